import { constants } from "node:os";
import { runInNewContext } from "node:vm";
import { ToolError } from "@toolcrib/core";
import { expect, test } from "vitest";
import { plainSystemError, systemErrorCode } from "./systemErrors.ts";

function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: open '/host/secret/path'`), { code, path: "/host/secret/path" });
}

test.each([
  ..."ENOENT ENOTDIR EISDIR EEXIST ENOTEMPTY EROFS ENOSPC EDQUOT EIO EMFILE ENFILE EXDEV ELOOP".split(" "),
  ..."ENAMETOOLONG EBUSY ETXTBSY EFBIG EAGAIN EINVAL ENXIO EUNKNOWNTOUS".split(" "),
])("%s is described in words, with its code, the caller's path, no host path, the cause kept", (code) => {
  const cause = systemError(code);
  const error = plainSystemError(cause, "short/path") as ToolError;
  expect(error).toBeInstanceOf(ToolError);
  expect(error.code).toBe("execution_failed");
  expect(error.message).toMatch(new RegExp(`^[A-Z][^:]+: short/path \\(${code}\\)`));
  expect(error.message).not.toContain("secret");
  expect(error.cause).toBe(cause);
});

test.each(["EACCES", "EPERM"])("%s is a permission that was denied", (code) => {
  expect(plainSystemError(systemError(code), "x")).toMatchObject({
    code: "permission_denied",
    details: { by: "system", path: "x" },
  });
});

test("an error of Windows that Node has no name for is told without the host's path", () => {
  const message = "UNKNOWN: unknown error, realpath 'C:\\\\host\\\\x'";
  const cause = Object.assign(new Error(message), { code: "UNKNOWN", errno: -4094, syscall: "realpath" });
  expect(plainSystemError(cause, "a.txt")).toMatchObject({ message: "The system refused: a.txt (UNKNOWN)", cause });
});

test("an error that is not a system error is returned unchanged", () => {
  const own = new ToolError({ code: "execution_failed", message: "own" });
  const foreign = Object.assign(new Error("x"), { code: "ERR_INVALID_ARG_TYPE" });
  for (const error of [own, foreign, new Error("plain"), null, "text"])
    expect(plainSystemError(error, "x")).toBe(error);
  expect(systemErrorCode(foreign)).toBeUndefined();
});

test("an error that Node has no name for gets the system's", () => {
  const number = constants.errno.EDQUOT;
  const error = Object.assign(new Error("x"), { code: `Unknown system error -${number}` });
  expect(systemErrorCode(error)).toBe("EDQUOT");
  expect(systemErrorCode(Object.assign(new Error("x"), { code: "UNKNOWN", errno: -number }))).toBe(
    systemErrorCode(error),
  );
  expect(systemErrorCode(Object.assign(new Error("x"), { code: "Unknown system error -99999" }))).toBeUndefined();
  expect(systemErrorCode(Object.assign(new Error("x"), { code: "UNKNOWN" }))).toBeUndefined();
});

test("an errno of another realm is read as one of this", () => {
  const error = runInNewContext('Object.assign(new Error("ENOENT: /host/path"), { code: "ENOENT" })');
  expect(error).not.toBeInstanceOf(Error);
  expect(systemErrorCode(error)).toBe("ENOENT");
  expect(plainSystemError(error, "x")).toMatchObject({
    message: "No such file or directory: x (ENOENT); check the path",
  });
});
