// Real trees from pinned packages of the npm registry and Debian, fetched once into an ignored folder.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL("./.corpora/", import.meta.url));

const npmPackages = {
  small: ["zod@4.6.7"],
  medium: ["date-fns@4.4.0", "rxjs@7.8.2", "lodash@4.18.1", "openai@7.57.0", "@anthropic-ai/sdk@1.12.0"],
};

/** In a few words, as the plot names them. */
export const treeNames = { small: "one npm package", medium: "5 npm packages", large: "Linux" };

/** The folder of a corpus, or undefined where it cannot be had (no network, no apt). `large` is most of the Linux source. */
export function corpus(name) {
  const home = `${folder}${name}`;
  if (existsSync(home)) return home;
  const fresh = `${folder}.new-${name}`;
  rmSync(fresh, { recursive: true, force: true });
  mkdirSync(fresh, { recursive: true });
  try {
    if (name === "large") fetchLinux(fresh);
    else for (const spec of npmPackages[name]) fetchPackage(spec, fresh);
  } catch (error) {
    console.error(`bench: no ${name} corpus: ${error.message.split("\n")[0]}`);
    return undefined;
  }
  // So that ignore rules are at work: what a checkout of these would hold.
  if (name !== "large") writeFileSync(`${fresh}/.gitignore`, "*.map\n/*/umd/\n*.tsbuildinfo\n");
  renameSync(fresh, home);
  return home;
}

function fetchPackage(spec, into) {
  const target = `${into}/${spec.replace(/^@/, "").replace("/", "-")}`;
  mkdirSync(target, { recursive: true });
  execFileSync("npm", ["pack", "--silent", spec], { cwd: target, stdio: ["ignore", "ignore", "ignore"] });
  const [tarball] = readdirSync(target).filter((file) => file.endsWith(".tgz"));
  execFileSync("tar", ["xzf", tarball, "--strip-components=1"], { cwd: target });
  rmSync(`${target}/${tarball}`);
}

function fetchLinux(into) {
  execFileSync("apt-get", ["download", "linux-source-6.1"], { cwd: into, stdio: "ignore" });
  const [deb] = readdirSync(into).filter((file) => file.endsWith(".deb"));
  execFileSync("dpkg-deb", ["-x", deb, "deb"], { cwd: into });
  execFileSync("tar", ["xJf", "deb/usr/src/linux-source-6.1.tar.xz", "--strip-components=1"], { cwd: into });
  // Without its two largest folders it has the 38,000 files of a large project of today.
  for (const rest of [deb, "deb", "drivers", "Documentation"]) rmSync(`${into}/${rest}`, { recursive: true });
  // Debian's own rule hides the whole tree.
  const rules = `${into}/.gitignore`;
  if (existsSync(rules)) writeFileSync(rules, readFileSync(rules, "utf8").replace(/^\/\*$/m, ""));
}

/**
 * Queries that every corpus has matches for, chosen by hand: a rare and a common literal, a regex, a glob; `others` for searches that
 * follow each other, one of which is nowhere; `first` for the first search of a process: three literals and three expressions.
 */
export const queries = {
  small: {
    literal: "ZodError",
    common: "return",
    regex: "function\\s+\\w+Check\\w*\\(",
    glob: "**/*.ts",
    first: {
      literals: ["ZodError", "safeParse", "discriminatedUnion"],
      expressions: ["function\\s+\\w+Check\\w*\\(", "throw new \\w*Error\\(", "\\bz\\.(string|number)\\(\\)"],
    },
    others: ["no such text anywhere", "prettifyError", "discriminatedUnion", "invalid_type", "toJSONSchema"],
  },
  medium: {
    literal: "formatDistance",
    common: "return",
    regex: "export (?:async )?function \\w+Date\\w*\\(",
    glob: "**/*.d.ts",
    first: {
      literals: ["formatDistance", "isArrayLike", "chat.completions"],
      expressions: [
        "export (?:async )?function \\w+Date\\w*\\(",
        "throw new \\w*Error\\(",
        "\\b(add|sub)(Days|Weeks)\\b",
      ],
    },
    others: ["no such text anywhere", "isArrayLike", "differenceInDays", "chat.completions", "Subscription"],
  },
  large: {
    literal: "spin_lock_irqsave",
    common: "return",
    regex: "static\\s+int\\s+\\w+_probe\\w*\\(",
    glob: "**/*.h",
    first: {
      literals: ["spin_lock_irqsave", "kmem_cache_alloc", "sched_setaffinity"],
      expressions: ["static\\s+int\\s+\\w+_probe\\w*\\(", "goto err_\\w+;", "\\b(mutex|spin)_(un)?lock\\("],
    },
    others: ["no such text anywhere", "kmem_cache_alloc", "sched_setaffinity", "rcu_dereference", "EXPORT_SYMBOL_GPL"],
  },
};
