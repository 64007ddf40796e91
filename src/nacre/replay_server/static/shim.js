/* shim */ parent.postMessage({nacre:"page",url:document.currentScript.dataset.url,timestamp:document.currentScript.dataset.timestamp},"*");
