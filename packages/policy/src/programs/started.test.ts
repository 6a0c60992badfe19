import { expect, test } from "vitest";
import { linesOf } from "../../../../testing/shell/corpora.ts";
import { startedBy, startsAnother } from "./started.ts";
import { findProgram } from "./table.ts";

/** Commands that the words start: `a b` for words, `'text'` for a script, `A=1 …` with assignments, `…+` with further words. */
const opened = (...words: string[]) =>
  startedBy(words).map(({ start, end, script, assignments = [], moreWords }) => {
    if (script !== undefined)
      return `'${script.text}'${script.isBash === undefined ? "" : script.isBash ? " bash" : " sh"} ${script.at}`;
    const given = assignments.map(({ name, value }) => `${name}=${value} `).join("");
    return `${given}${words.slice(start, end).join(" ")}${moreWords === undefined ? "" : ` +${moreWords}`}`;
  });

const split = (line: string) => opened(...line.split(" "));

test.each<[string, string[]]>([
  ["timeout 5 ls -l", ["ls -l"]],
  ["timeout -s KILL -k 3 --foreground 5 ls", ["ls"]],
  ["timeout -- 5 ls", ["ls"]],
  ["nice ls", ["ls"]],
  ["nice -n 5 ls", ["ls"]],
  ["nice -5 ls", ["ls"]],
  ["nohup ls", ["ls"]],
  ["stdbuf -oL -e 0 ls", ["ls"]],
  ["setsid -w ls", ["ls"]],
  ["ionice -c 2 -n 7 ls", ["ls"]],
  ["time -p ls", ["ls"]],
  ["command ls", ["ls"]],
  ["exec ls", ["ls"]],
  ["builtin ls", ["ls"]],
  ["busybox ls", ["ls"]],
  ["chronic ls", ["ls"]],
  ["doas -n ls", ["ls"]],
  ["sudo -n -E ls", ["ls"]],
  ["env ls", ["ls"]],
  ["env -i -u A B=1 C= ls D=2", ["PATH= A= B=1 C= ls D=2"]],
  ["env -u A B=1 ls", ["A= B=1 ls"]],
  ["env --unset=PATH ls", ["PATH= ls"]],
  ["env -- A=1 ls", ["A=1 ls"]],
  ["xargs rm -f", ["rm -f +options"]],
  ["xargs -0 -r -n 1 -P 4 rm", ["rm +options"]],
  ["xargs -I{} mv {} x", ["mv {} x +options"]],
  ["xargs -0I{} rm {}", ["rm {} +options"]],
  ["xargs -I % mv % x", ["mv % x +options"]],
  ["find . -exec ls -l {} ;", ["ls -l {} +paths"]],
  ["find . -execdir ls {} + -ok rm {} ; -okdir wc {} ;", ["ls {} +paths", "rm {} +paths", "wc {} +paths"]],
  ["find . -exec echo + {} ;", ["echo + {} +paths"]],
  ["find -exec ls {} ;", ["ls {} +paths"]],
  ["find -L . -exec ls {} ;", ["ls {} +paths"]],
  ["find -name x -exec ls {} ;", ["ls {} +paths"]],
  ["find -- -x -exec ls {} ;", ["ls {} +options"]],
  ["find -files0-from x -exec ls {} ;", ["ls {} +options"]],
  ["sh -c ls", ["'ls' sh 2"]],
  ["dash -c ls x y", ["'ls' sh 2"]],
  ["bash -e -ux -c ls", ["'ls' bash 4"]],
  ["bash -ec ls", ["'ls' bash 2"]],
  ["eval ls -l", ["'ls -l' 2"]],
  ["trap ls EXIT INT", ["'ls' 1"]],
  ["trap ls- EXIT", ["'ls-' 1"]],
  ["eval ls- a", ["'ls- a' 2"]],
  ["sh -e -c ls-", ["'ls-' sh 3"]],
  ["env A=b=c ls", ["A=b=c ls"]],
  ["find -H . -exec ls + {} ;", ["ls + {} +paths"]],
  ["find -Hx . -exec ls {} ;", ["ls {} +options"]],
  ["find . -exec ls {} + -name +", ["ls {} +paths"]],
  ["xargs -d , -I{} mv x {}", ["mv x {} +options"]],
])("%j starts %j", (line, found) => {
  expect(split(line)).toEqual(found);
});

test.each(linesOf("started", "starts no command that can be read"))("%j starts no command that can be read", (line) => {
  expect(split(line)).toEqual([]);
});

test("a command that starts another one is recognised even when that one cannot be read", () => {
  const starting = linesOf("started", "starts another");
  for (const line of starting) expect([line, startsAnother(line.split(" "))]).toEqual([line, true]);
  const plain = ["ls", "find . -name x", "timeout", "env", "sh", "command -v ls", "command -V ls", "constructor x"];
  for (const line of ["command -vp ls", "command x-v ls", "env -v ls"])
    expect([line, startsAnother(line.split(" "))]).toEqual([line, true]);
  for (const line of plain) expect([line, startsAnother(line.split(" "))]).toEqual([line, false]);
  expect(startsAnother([])).toBe(false);
});

test("wrappers that do nothing themselves, and programs that take any words", () => {
  const transparent = "bash chronic command dash ash env exec ionice nice nohup sh stdbuf time timeout xargs".split(
    " ",
  );
  for (const program of transparent)
    expect([program, findProgram(program)?.starts?.transparent]).toEqual([program, true]);
  for (const program of ["builtin", "busybox", "doas", "setsid", "sudo", "find", "ls", "constructor"])
    expect([program, findProgram(program)?.starts?.transparent]).toEqual([program, undefined]);
  for (const program of ["echo", "cat", "rm"]) expect(findProgram(program)?.covers).toBe("anything");
  for (const program of ["rg", "sort", "find", "tar"]) expect(findProgram(program)?.covers).not.toBe("anything");
});
