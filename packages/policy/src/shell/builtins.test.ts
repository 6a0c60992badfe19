import { expect, test } from "vitest";
import { linesOf, rowsOf } from "../../../../testing/shell/corpora.ts";
import { assignedNames, changeDirectory, dataIndexes, stateProblem } from "./builtins.ts";

/** Places of the words `$` that can only be data. */
const data = (line: string) => {
  const words = line.split(" ");
  const isData = dataIndexes(words);
  return words.flatMap((word, at) => (word === "$" && isData(at) ? [at] : []));
};

test.each(rowsOf<[string, number[]]>("builtins", "words that can only be data"))(
  "in %j the words at %j can only be data",
  (line, bases) => {
    expect(data(line)).toEqual(bases);
  },
);

test.each(linesOf("builtins", "changes nothing that follows"))("%j does not change what follows", (line) => {
  expect(stateProblem(line.split(" "))).toBeUndefined();
});

const meaning = (program: string) => `${program} changes what the commands after it mean.`;
const reading = "set changes how the commands after it are read.";

test.each<[string, string]>([
  ...". source alias unalias enable hash shopt bind declare typeset local let mapfile readarray complete compgen compopt fc history coproc newgrp suspend logout caller"
    .split(" ")
    .map((program): [string, string] => [program, meaning(program)]),
  ["set", reading],
  ["set -a", reading],
  ["set -k", reading],
  ["set -ea", reading],
  ["set e", reading],
  ["set -", reading],
  ["set -e x", reading],
  ["set -o", reading],
  ["set -o posix", reading],
  ["set -oe pipefail", reading],
  ["printf -v a b", "printf assigns a variable."],
  ["printf %n PATH", "printf assigns a variable."],
  ["printf abc%-5.3ln PATH", "printf assigns a variable."],
  ["printf -- %s%*n a 3 PATH", "printf assigns a variable."],
  ["[ -v a ]", "[ -v computes with its words."],
  ["[ -n a -a -R b ]", "[ -R computes with its words."],
  ["test -v a", "test -v computes with its words."],
  ["unset a[1]", "unset has a word that is not a name."],
  ["unset -f a", "unset has a word that is not a name."],
  ["wait -p a", "wait assigns a variable."],
  ["wait 1a", "wait assigns a variable."],
  ["getopts a b", "getopts assigns variables."],
])("%j changes what follows: %s", (line, problem) => {
  expect(stateProblem(line.split(" "))).toBe(problem);
});

test.each<[string, string[] | undefined]>([
  ["ls a=1", []],
  ["export A=1 B", ["A", "B"]],
  ["readonly A=1=2", ["A"]],
  ["unset A B", ["A", "B"]],
  ["read a B", ["a", "B"]],
  ["read -r a", ["a"]],
  ["export", undefined],
  ["export -p", undefined],
  ["export -n A", undefined],
  ["export A[1]=2", undefined],
  ["read", undefined],
  ["read -r", undefined],
  ["read -a x", undefined],
  ["read -r -a", undefined],
  ["read a=1", undefined],
  ["export 1A=2", undefined],
  ["constructor A", []],
])("%j assigns %j", (line, names) => {
  expect(assignedNames(line.split(" "))).toEqual(names);
});

test("the commands that change the working directory are known", () => {
  expect([...changeDirectory].toSorted()).toEqual(["cd", "chdir", "popd", "pushd"]);
});
