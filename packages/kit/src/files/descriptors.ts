import { closeSync, constants, existsSync, openSync, readFileSync, readlinkSync } from "node:fs";
import { dirname } from "node:path";
import { attempt } from "@toolcrib/core/internal";
import { type FilePath, flush } from "./changeAttributes.ts";
import { systemErrorCode } from "./systemErrors.ts";

/** Linux names open descriptors as paths; whatever depends on that is in this file. */
const linuxDescriptors = "/proc/self/fd";

let available: boolean | undefined;

function hasDescriptorPaths(): boolean {
  available ??= process.platform === "linux" && isAllowed() && existsSync(linuxDescriptors);
  return available;
}

/** Returns false if `node --permission` allows only some folders. */
function isAllowed(): boolean {
  const { permission } = process;
  if (permission === undefined) return true;
  return permission.has("fs.read", linuxDescriptors) && permission.has("fs.write", linuxDescriptors);
}

/** Returns the real path of what a descriptor has open, on Linux; elsewhere undefined. */
export function descriptorPath(descriptor: number): string | undefined {
  return hasDescriptorPaths() ? readlinkSync(`${linuxDescriptors}/${descriptor}`) : undefined;
}

/**
 * A directory held open, so that names in it mean the same directory whatever becomes of the path to it. On Linux names are
 * reached through the descriptor: no race and no limit on the path's length. Elsewhere by path, where both remain.
 */
export class OpenDirectory {
  readonly descriptor: number;
  readonly #own: string;

  /** Opens a directory; throws the system's error, ELOOP or ENOTDIR where the last name is a symlink. */
  constructor(path: FilePath) {
    this.descriptor = openDirectoryDescriptor(path);
    this.#own = hasDescriptorPaths() ? `${linuxDescriptors}/${this.descriptor}` : path.toString();
  }

  /** Returns a path to a name in this directory, for any `fs` call while it is open. */
  at(name: string | Uint8Array): FilePath {
    return typeof name === "string" ? `${this.#own}/${name}` : Buffer.concat([Buffer.from(`${this.#own}/`), name]);
  }

  /** Opens the directory above. */
  openParent(): OpenDirectory {
    return new OpenDirectory(hasDescriptorPaths() ? `${this.#own}/..` : dirname(this.#own));
  }

  /** Makes the names in it durable, where the filesystem can. Rejects with the system's error. */
  async sync(): Promise<void> {
    try {
      await flush({ descriptor: this.descriptor, path: this.at(".") });
    } catch (error) {
      // Some systems and filesystems cannot sync a directory, and one that may only be searched cannot be synced.
      if (!["EINVAL", "EPERM", "EBADF", "EISDIR", "ENOTSUP"].includes(systemErrorCode(error) ?? "")) throw error;
    }
  }

  close(): void {
    closeSync(this.descriptor);
  }
}

/** Linux's O_PATH, which Node does not name: reaches into a directory that may be searched but not listed. */
const O_PATH = 0o10000000;

function openDirectoryDescriptor(path: FilePath): number {
  const { O_RDONLY, O_DIRECTORY = 0, O_NOFOLLOW = 0 } = constants;
  try {
    return openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  } catch (error) {
    if (systemErrorCode(error) !== "EACCES" || !hasDescriptorPaths()) throw error;
    return openSync(path, O_PATH | O_DIRECTORY | O_NOFOLLOW);
  }
}

/** Returns where something is mounted, as far as this process sees; none elsewhere than on Linux. */
export function mountPoints(): string[] {
  const table = process.platform === "linux" ? attempt(() => readFileSync("/proc/self/mountinfo", "utf8")) : undefined;
  return (table ?? "").split("\n").flatMap((line) => {
    const point = line.split(" ")[4];
    const octal = (_: string, digits: string): string => String.fromCharCode(Number.parseInt(digits, 8));
    // Bytes of UTF-8 stand there as they are.
    return point === undefined ? [] : [point.replace(/\\(\d{3})/g, octal)];
  });
}

/** Returns whether a canonical path is itself a mount, as a single file that was mounted into a container. */
export function isMountPoint(path: string): boolean {
  return mountPoints().includes(path);
}
