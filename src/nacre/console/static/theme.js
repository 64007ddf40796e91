try{let e=localStorage.getItem("nacre-theme");e&&(document.documentElement.dataset.theme=e)}catch{}
