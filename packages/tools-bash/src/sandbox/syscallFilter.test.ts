import { describe, expect, test } from "vitest";
import { hasSyscallFilter, syscallFilter } from "./syscallFilter.ts";

const audit = { x64: 0xc000003e, arm64: 0xc00000b7 };
const calls = {
  x64: { socket: 41, keyrings: [248, 249, 250] },
  arm64: { socket: 198, keyrings: [217, 218, 219] },
};
const allowed = 0x7fff0000;
const [noSuchCall, noSuchFamily] = [0x50026, 0x50061];

/** Runs the program as the kernel would, on a call with a first argument. */
function decide(program: Uint8Array, architecture: number, call: number, argument: number): number {
  const view = new DataView(program.buffer);
  const data = new Map([
    [0, call],
    [4, architecture],
    [16, argument],
  ]);
  let accumulator = Number.NaN;
  for (let at = 0; at < program.length / 8; at += 1) {
    const code = view.getUint16(at * 8, true);
    const operand = view.getUint32(at * 8 + 4, true);
    if (code === 0x20) accumulator = data.get(operand) ?? expect.fail(`reads offset ${operand}`);
    else if (code === 0x06) return operand;
    else {
      const holds = code === 0x15 ? accumulator === operand : accumulator >= operand;
      at += view.getUint8(at * 8 + (holds ? 2 : 3));
    }
  }
  return expect.fail("runs past its end");
}

describe.each(["x64", "arm64"] as const)("on %s", (name) => {
  const { socket, keyrings } = calls[name];
  const filter = syscallFilter(false, name);
  const open = syscallFilter(true, name);
  const answer = (call: number, argument = 0, program = filter): number => decide(program, audit[name], call, argument);

  test("only internet and netlink sockets may be opened, and Unix sockets if allowed", () => {
    for (let family = 0; family < 50; family += 1) {
      const isKnown = [2, 10, 16].includes(family);
      expect([family, answer(socket, family)]).toEqual([family, isKnown ? allowed : noSuchFamily]);
      expect([family, answer(socket, family, open)]).toEqual([
        family,
        isKnown || family === 1 ? allowed : noSuchFamily,
      ]);
    }
  });

  test("keyrings, io_uring and calls of other architectures are refused, all else is allowed", () => {
    const refused = [425, ...keyrings];
    for (let call = 0; call < 600; call += 1) {
      if (call === socket) continue;
      expect([call, answer(call, 1)]).toEqual([call, refused.includes(call) ? noSuchCall : allowed]);
      expect([call, answer(call, 1, open)]).toEqual([call, refused.includes(call) ? noSuchCall : allowed]);
    }
    expect(answer(0x40000000 + socket, 1)).toBe(noSuchCall);
    expect(decide(filter, 0x40000003, 102, 1)).toBe(noSuchCall);
  });
});

test("other processors have no filter", () => {
  expect(hasSyscallFilter("s390x")).toBe(false);
  expect(() => syscallFilter(false, "s390x")).toThrow("s390x");
});
