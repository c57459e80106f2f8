// A server of the built program on a free port, with a store of its own.
import {spawn} from "node:child_process";
import {mkdtemp, rm} from "node:fs/promises";
import {tmpdir} from "node:os";
import path from "node:path";
import {fileURLToPath} from "node:url";
import {Api} from "./api.mjs";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const program = process.env.FF_PROGRAM || path.join(root, "build/release/ff");

export class Server {
  static async start({env = {}, args = []} = {}) {
    const server = new Server();
    server.folder = await mkdtemp(path.join(tmpdir(), "ff-web-"));
    Object.assign(server, {env, args, listen: "127.0.0.1:0"});
    await server.run();
    return server;
  }

  async run() {
    const flags = ["server", "--store", `embedded:${this.folder}/data`, "--listen", this.listen, ...this.args];
    this.child = spawn(program, flags, {env: {...process.env, ...this.env}, stdio: ["ignore", "pipe", "pipe"]});
    this.ended = new Promise((done) => this.child.once("exit", done));
    this.url = await this.address();
    this.listen = this.url.replace("http://", "");
    this.api = new Api(this.url);
  }

  // From the line that it prints once it serves.
  address() {
    return new Promise((resolve, reject) => {
      let said = "";
      const look = (bytes) => {
        said += bytes;
        const found = /http:\/\/127\.0\.0\.1:\d+/.exec(said);
        if (found) resolve(found[0]);
      };
      this.child.stdout.on("data", look);
      this.child.stderr.on("data", look);
      this.child.once("exit", (code) => reject(new Error(`the server ended with ${code}:\n${said}`)));
    });
  }

  async end() {
    this.child.kill("SIGTERM");
    await this.ended;
  }

  async stop() {
    await this.end();
    await rm(this.folder, {recursive: true, force: true});
  }
}
