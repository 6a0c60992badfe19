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
  if (delimiter === "" || /[\w\s\\;]/.test(delimiter)) return undefined;
  const replacement = sedFieldEnd(script, start + 1, delimiter);
  let at = replacement === undefined ? undefined : sedFieldEnd(script, replacement, delimiter);
  while (at !== undefined && "gpiIm0123456789".includes(script.charAt(at) || "x")) at += 1;
  return at;
}

/** After the delimiter that ends a field. A bracket that is open at it is read differently by each sed. */
function sedFieldEnd(script: string, start: number, delimiter: string): number | undefined {
  let open = false;
  for (let at = start; at < script.length; at += 1) {
    const character = script.charAt(at);
    if (character === "\n") return undefined;
    if (character === "\\") at += 1;
    else if (character === delimiter) return open ? undefined : at + 1;
    else if (character === "[") open = true;
    else if (character === "]") open = false;
  }
  return undefined;
}

/**
 * Whether a program of awk can neither run a command nor open a file: it has no pipe, no redirection, no way to name another file.
 * Before the first brace there is no statement that could redirect, so that `>` compares.
 */
export function isPlainAwkProgram(program: string): boolean {
  const brace = program.indexOf("{");
  const conditions = brace === -1 ? program : program.slice(0, brace);
  const rest = `${conditions.replaceAll(">", "")}${program.slice(conditions.length)}`.replace(/[>]=|[|][|]/g, "");
  return !/[|>@\\`]/.test(rest) && !awkWords.test(program);
}

const awkWords =
  /\b(?:system|getline|close|fflush|ARGV|ARGC|ARGIND|ENVIRON|PROCINFO|SYMTAB|FUNCTAB|include|load|namespace)\b/;

/** Whether a filter of jq reads its input alone: neither other files nor the environment. */
export function isPlainJqFilter(filter: string): boolean {
  return !/\b(?:import|include|env|ENV|modulemeta|get_search_list|input_filename)\b/.test(filter);
}
