// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are expansions of the shell.
import { expect, test } from "vitest";
import { linesOf } from "../../../../testing/shell/corpora.ts";
import { readShellLine } from "./readCommand.ts";

const problem = (line: string, shell?: string) => readShellLine(line, { shell }).unreadable;
const document = "A here-document in it could not be read.";

test.each(linesOf("readRedirection", "here-documents"))("the here-document of %j is read", (line) => {
  expect(problem(line)).toBeUndefined();
});

test.each<[string, string]>([
  ["cat <<E\na", document],
  ["cat <<E", document],
  ["cat <<E'F'\na\nEF\n", document],
  ["cat <<$x\na\n$x\n", document],
  ["cat <<''\na\n\n", document],
  ["cat <<'a b'\nx\na b\n", document],
  ["cat <<$'E'\nx\nE\n", document],
  ["cat <<E\na\n\tE\n", document],
  ["cat <<E\na\\\nE\nE\n", document],
  ["cat <<E\nb\\\nc\nE\n", "A here-document in it has a line that is continued."],
  ["cat <<E\n${x:=a}\nE\n", "It has an expansion that assigns, computes or works only in bash."],
  ["cat <<E\n$((x))\nE\n", "It computes with more than numbers."],
  ["cat 10<<E\na\nE\n", "It redirects a descriptor that sh and bash read differently."],
])("the here-document of %j is not read: %s", (line, why) => {
  expect(problem(line)).toBe(why);
});

test("commands in a here-document without quotes are judged, and its variables are told", () => {
  const { commands } = readShellLine("cat <<E\n$(rm a) $x ${y}\nE\nls");
  expect(commands.map(({ words }) => words.join(" "))).toEqual(["rm a", "cat", "ls"]);
  expect(commands.map(({ variables }) => variables)).toEqual([undefined, ["x", "y"], undefined]);
  const [only] = readShellLine("cat <<'E'\n$(rm a) $x\nE").commands;
  expect(only).toMatchObject({ words: ["cat"], assignments: [], text: "cat <<'E'" });
  expect(only).not.toHaveProperty("variables");
});

const network = "It redirects to the network.";
const unwritten = "It redirects to a file that is not written out.";
const descriptor = "It redirects a descriptor that sh and bash read differently.";

test.each<[string, string]>([
  ["ls > /dev/tcp/a/1", network],
  ["ls >> //dev//udp/a/1", network],
  ["exec 3<> /dev/tcp/a/1", network],
  ["ls > ''", unwritten],
  ['ls > "$x"', unwritten],
  ["ls > $(a)", unwritten],
  ["ls > a*", unwritten],
  ["ls 12> a", descriptor],
  ["ls {x}> a", descriptor],
  ["ls >& a", "It has >& with a word, which sh and bash read differently."],
  ["ls <& a", "It has <& with a word, which sh and bash read differently."],
  ["ls >& 12", "It has >& with a word, which sh and bash read differently."],
  ["ls >& 1-", "It has >& with a word, which sh and bash read differently."],
  ["ls &>> a", "It has &>>, which sh and bash read differently."],
])("the redirection of %j is not read: %s", (line, why) => {
  expect(problem(line)).toBe(why);
});

test("what redirections open is told, of commands and of compound ones", () => {
  const opened = (line: string, shell?: string) => {
    const { unreadable, redirections } = readShellLine(line, { shell });
    return [unreadable, ...redirections.map(({ kind, path }) => `${kind} ${path}`)];
  };
  expect(opened("ls >a 2>>b <c 3>|d")).toEqual([undefined, "write a", "write b", "read c", "write d"]);
  expect(opened("> a")).toEqual([undefined, "write a"]);
  expect(opened("ls 0<>a")).toEqual([undefined, "write a", "read a"]);
  expect(opened("ls >&1 2>& 1 <&0 3>&- 4<&-")).toEqual([undefined]);
  expect(opened("ls > 'a b' 2> \"c\"d\\ e")).toEqual([undefined, "write a b", "write cd e"]);
  expect(opened("ls > /dev/tcpx/a")).toEqual([undefined, "write /dev/tcpx/a"]);
  expect(opened("if ls; then ls; fi > a")).toEqual([undefined, "write a"]);
  expect(opened("{ ls; } > a; (ls) < b; for x in y; do ls; done > c")).toEqual([
    undefined,
    "write a",
    "read b",
    "write c",
  ]);
  expect(opened("ls &> a &>> b <<< c", "bash")).toEqual([undefined, "write a", "write b"]);
  expect(opened("sh -c 'ls > a'")).toEqual([undefined, "write a"]);
});

test("variables of a here-string are told", () => {
  const [first] = readShellLine('cat <<< "$x"', { shell: "bash" }).commands;
  expect(first?.variables).toEqual(["x"]);
});
