/*
 * A seccomp program (classic BPF, eight bytes an instruction) for commands in the sandbox. It refuses what namespaces do not cover:
 * Unix sockets of services, sockets of virtual machines, the kernel's keyrings. By hand: libseccomp would be a native add-on, with
 * an install script, for twenty instructions.
 */

interface Architecture {
  /** AUDIT_ARCH_… of the kernel. */
  readonly audit: number;
  readonly socket: number;
  /** add_key, request_key, keyctl. */
  readonly keyrings: readonly number[];
}

const architectures: Readonly<Partial<Record<NodeJS.Architecture, Architecture>>> = {
  x64: { audit: 0xc000003e, socket: 41, keyrings: [248, 249, 250] },
  arm64: { audit: 0xc00000b7, socket: 198, keyrings: [217, 218, 219] },
};

/** The same number on every architecture. io_uring can open sockets without the system call `socket`. */
const ioUringSetup = 425;
/** Set in the numbers of system calls of the x32 ABI. */
const x32Bit = 0x40000000;

/** AF_INET, AF_INET6, AF_NETLINK (used to list network interfaces). */
const families: readonly number[] = [2, 10, 16];
const unixFamily = 1;

/** Offsets in struct seccomp_data. */
const numberOffset = 0;
const architectureOffset = 4;
const firstArgumentOffset = 16;

const [load, jumpIfEqual, jumpIfAtLeast, answer] = [0x20, 0x15, 0x35, 0x06];
const allow = 0x7fff0000;
const fail = 0x00050000;
const [noSuchCall, noSuchFamily] = [fail + 38, fail + 97];

/** Returns whether there is a filter for this machine. */
export function hasSyscallFilter(architecture: NodeJS.Architecture = process.arch): boolean {
  return architectures[architecture] !== undefined;
}

/** Returns the program for this machine; allows AF_UNIX sockets only if asked. Throws if `hasSyscallFilter` is false. */
export function syscallFilter(unixSockets: boolean, architecture: NodeJS.Architecture = process.arch): Uint8Array {
  const machine = architectures[architecture];
  if (!machine) throw new Error(`No system call filter exists for ${architecture}`);
  const allowed = unixSockets ? [...families, unixFamily] : families;
  const refused = [ioUringSetup, ...machine.keyrings];
  return assemble([
    [load, 0, 0, architectureOffset],
    // Programs for another architecture are refused: their system calls have other numbers.
    [jumpIfEqual, 1, 0, machine.audit],
    [answer, 0, 0, noSuchCall],
    [load, 0, 0, numberOffset],
    [jumpIfAtLeast, refused.length + 1, 0, x32Bit],
    ...refused.map((call, index): Instruction => [jumpIfEqual, refused.length - index, 0, call]),
    [jumpIfEqual, 1, allowed.length + 3, machine.socket],
    [answer, 0, 0, noSuchCall],
    [load, 0, 0, firstArgumentOffset],
    ...allowed.map((family, index): Instruction => [jumpIfEqual, allowed.length - index, 0, family]),
    [answer, 0, 0, noSuchFamily],
    [answer, 0, 0, allow],
  ]);
}

/** Operation, instructions to skip if true and if false, operand. */
type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, operand: number];

function assemble(program: readonly Instruction[]): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(program.length * 8));
  program.forEach(([code, ifTrue, ifFalse, operand], index) => {
    bytes.setUint16(index * 8, code, true);
    bytes.setUint8(index * 8 + 2, ifTrue);
    bytes.setUint8(index * 8 + 3, ifFalse);
    bytes.setUint32(index * 8 + 4, operand, true);
  });
  return new Uint8Array(bytes.buffer);
}
