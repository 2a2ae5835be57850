// SPDX-License-Identifier: MIT
// Search in pages that are opened from a disk: browsers start no worker for file: addresses, so the script of the worker runs in a frame.
"use strict";
if (location.protocol === "file:") {
  globalThis.IFrameWorker = class extends EventTarget {
    constructor(address) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.title = "Search";
      document.documentElement.append(frame);
      this.frame = frame;
      const inner = frame.contentWindow;
      const load = (source) =>
        new Promise((resolve, reject) => {
          const script = inner.document.createElement("script");
          script.src = new URL(source, location.href);
          script.onload = resolve;
          script.onerror = () => reject(new Error(`${source} cannot be read`));
          inner.document.head.append(script);
        });
      inner.importScripts = (...sources) => sources.reduce((before, source) => before.then(() => load(source)), Promise.resolve());
      inner.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      this.ready = load(address);
      this.ready.catch((error) => this.dispatchEvent(new ErrorEvent("error", { error, message: error.message })));
    }
    postMessage(data) {
      this.ready.then(
        () => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data })),
        () => {}, // reported by the constructor
      );
    }
    terminate() {
      this.frame.remove();
    }
  };
  globalThis.Worker = globalThis.IFrameWorker;
}
