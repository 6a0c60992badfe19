// A user of the published packages: an empty folder, installs by name, and programs in it.
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { createProject, nodeBinary, run, userEnvironment, write } from "../consumers/project.mjs";
import { registry } from "./story.mjs";

/** An empty folder that takes our packages from the test's registry, all others from where this machine does. */
export async function newUser(name, { version, files = {} } = {}) {
  const { url } = await registry();
  const folder = createProject(name, { manifest: { type: "module" }, files });
  // What was published a moment ago is asked for again, not taken from npm's cache.
  write(folder, { ".npmrc": `@toolcrib:registry=${url}\nprefer-online=true\n` });
  const node = version ? await nodeBinary(version) : process.execPath;
  return new User(folder, node);
}

class User {
  constructor(folder, node) {
    this.folder = folder;
    this.node = node;
    // npm runs on the same Node.
    this.env = { PATH: [dirname(node), userEnvironment().PATH].join(delimiter) };
  }

  /** `npm install NAME …`, as a user types it. */
  async install(...specifiers) {
    await this.npm("install", ...specifiers);
    return this;
  }

  npm(...args) {
    const quiet = ["--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"];
    return run(this.folder, "npm", [...args, ...quiet], { env: this.env });
  }

  /** Runs a program of the folder. Returns what it printed as JSON. */
  async run(file, { env = {} } = {}) {
    const { stdout, stderr } = await run(this.folder, this.node, [file], { env: { ...this.env, ...env } });
    if (stderr !== "") throw new Error(`${file} printed to standard error:\n${stderr}`);
    return JSON.parse(stdout);
  }

  /** The same program as an ES module and as CommonJS: `imports` by name, and a `body` that returns what is printed. */
  async runBoth(imports, body, options) {
    const lines = (line) => Object.entries(imports).map(([from, names]) => line(names, from));
    const rest = `\nasync function main() {\n${body}\n}\nmain().then((result) => console.log(JSON.stringify(result)));\n`;
    write(this.folder, {
      "main.mjs": lines((names, from) => `import { ${names} } from "${from}";`).join("\n") + rest,
      "main.cjs": lines((names, from) => `const { ${names} } = require("${from}");`).join("\n") + rest,
    });
    return [await this.run("main.mjs", options), await this.run("main.cjs", options)];
  }

  /** The version of an installed package, or of the one that another package has for itself. */
  versionOf(name, within = "") {
    const file = join(this.folder, within && join("node_modules", within), "node_modules", name, "package.json");
    return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")).version : undefined;
  }

  /** The range that the install wrote. */
  rangeOf(name) {
    return JSON.parse(readFileSync(join(this.folder, "package.json"), "utf8")).dependencies?.[name];
  }

  installed() {
    return installedIn(join(this.folder, "node_modules"));
  }
}

/** The names of all packages in a `node_modules`, those inside others too. */
export function installedIn(modules) {
  if (!existsSync(modules)) return [];
  return readdirSync(modules)
    .filter((name) => !name.startsWith("."))
    .flatMap((name) =>
      name.startsWith("@") ? readdirSync(join(modules, name)).map((own) => `${name}/${own}`) : [name],
    )
    .flatMap((name) => [name, ...installedIn(join(modules, name, "node_modules"))])
    .sort();
}

/** Every file below a folder. */
export function filesBelow(folder) {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

export function megabytesOf(folder) {
  return filesBelow(folder).reduce((sum, file) => sum + statSync(file).size, 0) / 1e6;
}
