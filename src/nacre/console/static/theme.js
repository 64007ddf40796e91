try{let e=localStorage.getItem("nacre-theme");e&&(document.documentElement.dataset.theme=e),document.documentElement.dataset.mode=localStorage.getItem("nacre-mode")??""}catch{}
