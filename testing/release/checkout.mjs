// A copy of this repository in which versions are made and published as a maintainer would.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { run, workspace, write } from "../consumers/project.mjs";

export const repository = fileURLToPath(new URL("../../", import.meta.url));

/** Copies what git knows of, with what is built and installed. */
export async function createCheckout() {
  const folder = join(workspace, "checkout");
  const git = (...args) => spawnSync("git", args, { cwd: repository, encoding: "utf8", maxBuffer: 2 ** 28 });
  const listed = git("ls-files", "-z", "--cached", "--others", "--exclude-standard").stdout.split("\0").filter(Boolean);
  for (const file of listed.filter((each) => existsSync(join(repository, each)))) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    cpSync(join(repository, file), join(folder, file));
  }
  symlinkSync(join(repository, "node_modules"), join(folder, "node_modules"));
  for (const name of readdirSync(join(folder, "packages"))) {
    for (const part of ["dist", "node_modules"]) {
      const at = join("packages", name, part);
      cpSync(join(repository, at), join(folder, at), { recursive: true, verbatimSymlinks: true });
    }
  }
  const checkout = new Checkout(folder);
  await checkout.git("init", "--quiet", "--initial-branch=main");
  await checkout.commit("Start");
  return checkout;
}

class Checkout {
  constructor(folder) {
    this.folder = folder;
  }

  git(...args) {
    const identity = ["-c", "user.name=maintainer", "-c", "user.email=maintainer@example.com"];
    return run(this.folder, "git", [...identity, "-c", "commit.gpgsign=false", ...args]);
  }

  async commit(subject) {
    await this.git("add", "--all");
    await this.git("commit", "--quiet", "--allow-empty", "--message", subject);
  }

  /** The registry to publish to. */
  useRegistry(npmrc) {
    const others = this.read(".npmrc").replace(/^(@toolcrib:registry|\/\/127).*\n/gm, "");
    write(this.folder, { ".npmrc": others + npmrc });
  }

  /** The manifests of the published packages by their name. */
  packages() {
    return Object.fromEntries(
      readdirSync(join(this.folder, "packages")).map((name) => {
        const manifest = JSON.parse(this.read(`packages/${name}/package.json`));
        return [manifest.name, manifest];
      }),
    );
  }

  read(path) {
    return readFileSync(join(this.folder, path), "utf8");
  }

  /** Versions by `changes`, `{ package: "patch" | "minor" | "major" }`, or by the changesets that are there. */
  async makeVersions(changes) {
    if (changes) {
      this.addChangeset(changes);
      await this.commit("Change something");
    }
    await run(this.folder, "npm", ["run", "-s", "release:version"]);
    await this.commit("Make versions");
  }

  addChangeset(changes) {
    const lines = Object.entries(changes).map(([name, size]) => `"${name}": ${size}\n`);
    write(this.folder, { ".changeset/next.md": `---\n${lines.join("")}---\n\nThe next version.\n` });
  }

  /** Lets the description of `list_dir` begin with `(as of VERSION)`, in the built file. */
  rewordTool(version) {
    const folder = "packages/tools-fs/dist";
    const file = readdirSync(join(this.folder, folder)).find(
      (name) => name.endsWith(".js") && this.read(join(folder, name)).includes('"list_dir"'),
    );
    const path = join(folder, file);
    const reworded = this.read(path).replace(
      /(name:\s*"list_dir",[^{}]*?description:\s*)(?:"\(as of [^"]*" \+ )?/,
      (_, before) => `${before}"(as of ${version}) " + `,
    );
    write(this.folder, { [path]: reworded });
  }

  /** Changes the published file of a package. */
  editBuilt(path, before, after) {
    const text = this.read(path);
    if (!text.includes(before)) throw new Error(`${path} does not contain ${before}`);
    write(this.folder, { [path]: text.replaceAll(before, after) });
  }

  publish(args = [], options) {
    return run(this.folder, process.execPath, ["scripts/release/publish.mjs", ...args], options);
  }

  promote(args = [], options) {
    return run(this.folder, process.execPath, ["scripts/release/promote.mjs", ...args], options);
  }
}
