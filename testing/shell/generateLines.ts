import fc from "fast-check";
import { linesOf } from "./corpora.ts";

/** Commands that the rules of `checkLines` and the mode `ask` allow. */
const allowed = linesOf("lineParts", "allowed");
const disallowed = linesOf("lineParts", "disallowed");
/** Commands that hand words, scripts or variables on to others. */
const indirect = linesOf("lineParts", "indirect");
const operators = linesOf("lineParts", "operators");

const anyOf = <T>(...values: readonly T[]): fc.Arbitrary<T> => fc.constantFrom(...values);
const weighted = (...pairs: readonly (readonly [number, fc.Arbitrary<string>])[]): fc.Arbitrary<string> =>
  fc.oneof(...pairs.map(([weight, arbitrary]) => ({ weight, arbitrary })));

/** Nothing, but for one time in about `times`. */
const seldom = (times: number, arbitrary: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  weighted([times, fc.constant("")], [1, arbitrary]);

/** Another way to write the same words: quotes, escapes, blanks and line continuations. */
const disguised = (command: string): fc.Arbitrary<string> =>
  fc
    .tuple(
      fc.nat({ max: Math.max(0, command.length - 1) }),
      anyOf("", "''", '""', "\\", "\\\n", "'", '"', "$", "  ", "\t", "$''", '$""'),
    )
    .map(([at, piece]) => {
      const head = command.slice(0, at);
      const next = command.slice(at, at + 1);
      const tail = command.slice(at + 1);
      if (piece === "'" || piece === '"') return `${head}${piece}${next}${piece}${tail}`;
      if (piece === "$") return `${head}$'${next}'${tail}`;
      return `${head}${piece}${next}${tail}`;
    });

const plain: fc.Arbitrary<string> = weighted(
  [36, fc.constantFrom(...allowed)],
  [5, fc.constantFrom(...allowed).chain(disguised)],
  [6, fc.constantFrom(...indirect)],
  [1, fc.constantFrom(...indirect).chain(disguised)],
  [2, fc.constantFrom(...disallowed)],
  [1, fc.constantFrom(...disallowed).chain(disguised)],
);

const trickyWord: fc.Arbitrary<string> = fc.constantFrom(...linesOf("lineParts", "trickyWords"));

const assignment: fc.Arbitrary<string> = fc.constantFrom(...linesOf("lineParts", "assignments"));

const redirection: fc.Arbitrary<string> = weighted(
  [6, anyOf("> /dev/null", "2>/dev/null", "2>&1", ">/dev/null 2>&1", "< a.txt", "</dev/null", ">&2")],
  [
    2,
    anyOf(
      "> evil",
      ">> a.txt",
      ">|evil",
      "<>evil",
      "&>evil",
      ">&evil",
      "2>evil",
      "&>>evil",
      "> /tmp/evil",
      "> ~/evil",
      "> $x",
      '> "$(touch evil)"',
      "< <(touch evil)",
      "> >(touch evil)",
      "<<< $(touch evil)",
      "<<< word",
      "{fd}>evil",
      "3>evil",
      "> .git/config",
      "> src/../evil",
      "> /dev/tcp/127.0.0.1/9",
      "> 'evil'",
      ">\\\nevil",
      "< /etc/passwd",
    ),
  ],
);

const hereDocument: fc.Arbitrary<string> = fc
  .tuple(
    anyOf("<<", "<<-", "<< "),
    anyOf("EOF", "'EOF'", '"EOF"', "\\EOF", "E'O'F", "$EOF"),
    anyOf("", " | cat", "; touch evil", " && git status", " > evil", " & touch evil"),
    anyOf("text", "$(touch evil)", "`touch evil`", "$x", "EOF ", "\tEOF", "'", '"', "\\", "a\\\nEOF", "<<EOF", ""),
    anyOf("\nEOF", "\nEOF\n", "\n\tEOF", "\nEOF\ntouch evil", "\nEOF\ngit status", "", "\n EOF"),
  )
  .map(([operator, word, after, body, end]) => `cat ${operator}${word}${after}\n${body}${end}`);

const simple: fc.Arbitrary<string> = fc
  .tuple(seldom(14, assignment), plain, seldom(5, trickyWord), seldom(4, redirection), fc.nat({ max: 12 }))
  .map(([before, command, word, redirected, order]) => {
    const parts = order === 0 ? [redirected, before, command, word] : [before, command, word, redirected];
    return parts.filter((part) => part !== "").join(order === 1 ? "\t " : " ");
  });

const { list } = fc.letrec<{ list: string; command: string; compound: string }>((tie) => ({
  list: fc
    .array(fc.tuple(tie("command"), fc.constantFrom(...operators)), { minLength: 1, maxLength: 3 })
    .map((parts) =>
      parts.map(([command, operator], index) => command + (index < parts.length - 1 ? operator : "")).join(""),
    ),
  command: fc.oneof(
    { maxDepth: 3, depthIdentifier: "shell" },
    { weight: 18, arbitrary: simple },
    { weight: 1, arbitrary: hereDocument },
    { weight: 3, arbitrary: tie("compound") },
  ),
  compound: fc
    .tuple(
      tie("list"),
      tie("command"),
      anyOf<(inner: string, other: string) => string>(
        (inner) => `( ${inner} )`,
        (inner) => `(${inner})`,
        (inner) => `{ ${inner}; }`,
        (inner) => `{ ${inner}\n}`,
        (inner) => `! ${inner}`,
        (inner) => `time ${inner}`,
        (inner) => `time -p ${inner}`,
        (inner, other) => `if ${other}; then ${inner}; fi`,
        (inner, other) => `if ${other}; then true; elif true; then ${inner}; else ${other}; fi`,
        (inner, other) => `while ${other}; do ${inner}; break; done`,
        (inner) => `until true; do ${inner}; done`,
        (inner) => `for f in a.txt b.txt; do ${inner}; done`,
        (inner) => `for f in a.txt; do cat "$f"; ${inner}; done`,
        (inner) => `for f in $(touch evil); do ${inner}; done`,
        (inner) => `for f; do ${inner}; done; ${inner}`,
        (inner) => `for ((i=0;i<1;i++)); do ${inner}; done`,
        (inner, other) => `case x in x) ${inner};; *) ${other};; esac`,
        (inner) => `case $(touch evil) in (a|*) ${inner} ;& esac`,
        (inner, other) => `ls() { ${other}; }; ${inner}`,
        (inner, other) => `function git { ${other}; }; ${inner}`,
        (inner) => `f() ( ${inner} ); f`,
        (inner) => `[[ -n x && $(touch evil) ]] && ${inner}`,
        (inner) => `[[ a < b ]] || ${inner}`,
        (inner) => `((x=1)) && ${inner}`,
        (inner) => `select f in a; do ${inner}; break; done`,
        (inner) => `coproc { ${inner}; }`,
        (inner) => `echo "$(${inner})"`,
        (inner) => `echo $(${inner})`,
        (inner) => `echo \`${inner}\``,
        (inner) => `cat <(${inner})`,
        (inner) => `sh -c '${inner.replaceAll("'", "'\\''")}'`,
        (inner) => `eval '${inner.replaceAll("'", "'\\''")}'`,
        (inner) => `env ${inner}`,
        (inner) => `xargs ${inner}`,
        (inner) => `echo a.txt | xargs ${inner}`,
        (inner) => `find . -maxdepth 0 -exec ${inner} \\;`,
        (inner, other) => `${inner} # ${other}`,
        (inner, other) => `# ${inner}\n${other}`,
        (inner, other) => `echo a#b; ${inner} #\\\n${other}`,
        (inner, other) => `${inner} ${" ".repeat(200)}; ${other}`,
        (inner, other) => `${inner}\\\n${other}`,
        (inner, other) => `${inner}\r${other}`,
        (inner, other) => `${inner}\f${other}`,
        (inner, other) => `${inner}\u00a0${other}`,
        (inner, other) => `${inner}\u2028${other}`,
      ),
    )
    .map(([inner, other, wrap]) => wrap(inner, other)),
}));

/** Characters with a meaning, put where nobody expects them. */
const mutated = (line: string): fc.Arbitrary<string> =>
  fc
    .array(
      fc.tuple(
        fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
        fc.boolean(),
        anyOf(
          ..."'\"\\`$(){}[]<>|&;#!~*?= \t\n\r-:@%^,+0aE".split(""),
          "$(",
          "\\\n",
          "&&",
          ";;",
          "<<",
          "$'",
          "${",
          "((",
          "[[",
        ),
      ),
      { minLength: 1, maxLength: 3 },
    )
    .map((changes) =>
      changes.reduce((text, [where, remove, piece]) => {
        const at = Math.floor(where * (text.length + 1));
        return remove ? text.slice(0, at) + text.slice(at + 1) : text.slice(0, at) + piece + text.slice(at);
      }, line),
    );

/**
 * Shell lines from a grammar, most of them made of commands that the rules of the test allow, some with others hidden
 * in them by every means that the shells have; then, now and then, a character is put in or taken out.
 */
export const shellLine: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: list },
  { weight: 1, arbitrary: simple },
  { weight: 5, arbitrary: fc.oneof(list, simple, plain, fc.constantFrom(...indirect)).chain(mutated) },
);
