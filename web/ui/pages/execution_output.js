// What an execution writes, live.
import {h, replace} from "../base/dom.js";
import {bytes, plural} from "../base/format.js";
import {path} from "../base/urls.js";
import {get} from "../api/http.js";
import {tabs} from "../parts/bits.js";
import {Log} from "../parts/log.js";
import {fill} from "../parts/messages.js";

const first_stream = "output";

const about = ({next, first, bytes: size, durability, kind}) =>
  `${plural(Number(next) - Number(first), "frame")}, ${bytes(size)}, ${durability}${kind === "summary" ? ", a summary" : ""}`;

export function outputTab(box, where, signal) {
  fill(
    box,
    async () => {
      const {streams} = await get(`${where}/streams`, {}, signal);
      const names = streams.map(({name}) => name);
      if (!names.includes(first_stream)) names.unshift(first_stream);
      const place = h("div", {});
      let control = null;
      const open = (name) => {
        if (control) control.abort();
        control = new AbortController();
        signal.addEventListener("abort", () => control.abort());
        const log = new Log({label: `Stream ${name}`});
        const stream = streams.find((one) => one.name === name);
        replace(
          place,
          names.length > 1
            ? tabs(
                names.map((one) => [one, one]),
                name,
                open,
              )
            : null,
          h("p", {class: "quiet"}, `Stream ${name}`, stream ? `: ${about(stream)}` : ": nothing was written yet"),
          log.element,
        );
        log.follow(`${where}/${path`streams/${name}`}`, "from", control.signal);
      };
      open(names[0]);
      return place;
    },
    signal,
  );
}
