// A page that was opened from a folder gets no worker from the browser, and the site's search is one. So here a worker is
// an invisible frame that runs the same script, with the two calls by which a worker speaks. On a server nothing is done.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.inside = frame.contentWindow;
      this.inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", {data}));
      const script = this.inside.document.createElement("script");
      script.src = url;
      this.ready = new Promise((done) => (script.onload = done));
      this.inside.document.body.append(script);
    }
    postMessage(data) {
      this.ready.then(() => this.inside.dispatchEvent(new this.inside.MessageEvent("message", {data})));
    }
  };
}
