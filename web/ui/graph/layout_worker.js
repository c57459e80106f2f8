// The layout away from the page's thread: a large graph takes a while.
import {layout} from "./layout.js";

self.addEventListener("message", ({data}) => self.postMessage({number: data.number, made: layout(data.graph)}));
