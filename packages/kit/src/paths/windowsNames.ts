// Paths that Windows takes for something else than a file of that name. A pure function of the path, so that it is tested everywhere.
// Source: "Naming Files, Paths, and Namespaces" and "File Streams", Microsoft Learn.

/** Names of devices, whatever ending they have; the superscript digits count as digits. */
const device = /^(?:con|prn|aux|nul|conin\$|conout\$|clock\$|(?:com|lpt)[0-9\u00b9\u00b2\u00b3])$/i;
const forbidden = /[<>"|?*\u0001-\u001f]/;

/** Says in words why Windows would not take a path for the file or directory that it names; undefined if it would. */
export function windowsTrap(path: string): string | undefined {
  if (/^[\\/]{2}[?.](?:[\\/]|$)|^[\\/]\?\?(?:[\\/]|$)/.test(path)) {
    return "names a device, as all paths that begin with \\\\?\\, \\\\.\\ or \\??\\ do; name a file by its drive or share";
  }
  const [, drive, rest = path] = /^([a-z]:)(.*)$/is.exec(path) ?? [];
  if (drive !== undefined && !/^[\\/]/.test(rest)) {
    return `is relative to a directory of the drive ${drive}; write ${drive}\\ before it, or leave the drive out`;
  }
  for (const name of rest.split(/[\\/]/)) {
    const trap = nameTrap(name);
    if (trap !== undefined) return trap;
  }
  return undefined;
}

function nameTrap(name: string): string | undefined {
  if (name === "" || name === "." || name === "..") return undefined;
  const [shown, base = ""] = [JSON.stringify(name), name.split(/[.:]/, 1)[0]];
  if (device.test(base.trimEnd())) return `names a device of Windows: ${shown}; choose another name`;
  if (name.includes(":")) return `names a stream inside a file: ${shown}; choose a name without a colon`;
  if (/[. ]$/.test(name)) return `ends a name in a dot or space, which Windows leaves out: ${shown}; leave it out too`;
  if (forbidden.test(name)) return `holds a character that Windows allows in no name: ${shown}; choose another name`;
  return undefined;
}
