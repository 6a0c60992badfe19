/** Whether a script of sed only selects, changes and prints lines: no `w`, `r`, `e`, no label, no block. */
export function isPlainSedScript(script: string): boolean {
  let at = 0;
  while (at < script.length) {
    if (" \t\n;".includes(script.charAt(at))) at += 1;
    else {
      const end = sedCommandEnd(script, at);
      if (end === undefined) return false;
      at = end;
    }
  }
  return true;
}

function sedCommandEnd(script: string, start: number): number | undefined {
  let at: number | undefined = sedAddressEnd(script, start);
  if (at !== undefined && script.charAt(at) === ",") at = sedAddressEnd(script, at + 1);
  if (at === undefined) return undefined;
  while (" !".includes(script.charAt(at) || "x")) at += 1;
  const command = script.charAt(at);
  if (command === "s") at = sedSubstitutionEnd(script, at + 1);
  else if (command !== "" && "pdqPDnNgGhHxl=".includes(command)) at += 1;
  else return undefined;
  if (at === undefined) return undefined;
  while (" \t".includes(script.charAt(at) || "x")) at += 1;
  return at === script.length || "\n;".includes(script.charAt(at)) ? at : undefined;
}

function sedAddressEnd(script: string, start: number): number | undefined {
  const first = script.charAt(start);
  if (first === "/") return sedFieldEnd(script, start + 1, "/");
  if (first === "$") return start + 1;
  let at = start;
  while ("+~0123456789".includes(script.charAt(at) || "x")) at += 1;
  return at;
}

function sedSubstitutionEnd(script: string, start: number): number | undefined {
  const delimiter = script.charAt(start);
  if (/[\w\s\\;[]/.test(delimiter)) return undefined;
  const replacement = sedFieldEnd(script, start + 1, delimiter);
  let at = replacement === undefined ? undefined : sedFieldEnd(script, replacement, delimiter, false);
  while (at !== undefined && "gpiIm0123456789".includes(script.charAt(at) || "x")) at += 1;
  return at;
}

/** After the delimiter that ends a regular expression, or a replacement, where brackets mean nothing. */
function sedFieldEnd(script: string, start: number, delimiter: string, isPattern = true): number | undefined {
  for (let at = start; at < script.length; at += 1) {
    const character = script.charAt(at);
    if (character === "\n") return undefined;
    if (character === "\\") at += 1;
    else if (character === delimiter) return at + 1;
    else if (character === "[" && isPattern) {
      const end = sedBracketEnd(script, at);
      const bracket = script.slice(at, (end ?? at) + 1);
      // Whether a delimiter or an escape within ends the field or the bracket depends on the version of sed.
      if (end === undefined || [delimiter, "\\]", "\n"].some((text) => bracket.includes(text))) return undefined;
      at = end;
    }
  }
  return undefined;
}

/** The bracket that closes the one at `start`: `]` stands for itself when it comes first, and `[:space:]` within is a class. */
function sedBracketEnd(script: string, start: number): number | undefined {
  const first = script.charAt(start + 1) === "^" ? start + 2 : start + 1;
  for (let at = first; at < script.length; at += 1) {
    const character = script.charAt(at);
    if (character === "]" && at > first) return at;
    if (character === "[" && ":.=".includes(script.charAt(at + 1) || "x")) {
      const end = script.indexOf(`${script.charAt(at + 1)}]`, at + 2);
      if (end === -1) return undefined;
      at = end + 1;
    }
  }
  return undefined;
}

/**
 * Whether a program of awk can neither run a command nor open a file: it has no pipe, no redirection, no way to name another file.
 * Before the first brace there is no statement that could redirect, so that `>` compares.
 */
export function isPlainAwkProgram(program: string): boolean {
  const [conditions = ""] = program.split("{", 1);
  const rest = `${conditions.replaceAll(">", "")}${program.slice(conditions.length)}`.replace(/[>]=|[|][|]/g, "");
  return !/[|>@\\`]/.test(rest) && !awkWords.test(program);
}

const awkWords =
  /\b(?:system|getline|close|fflush|ARGV|ARGC|ARGIND|ENVIRON|PROCINFO|SYMTAB|FUNCTAB|include|load|namespace)\b/;

/** Whether a filter of jq reads its input alone: neither other files nor the environment. */
export function isPlainJqFilter(filter: string): boolean {
  return !/\b(?:import|include|env|ENV|modulemeta|get_search_list|input_filename)\b/.test(filter);
}
