import { expect, test } from "vitest";
import { isReplaced } from "./bubblewrap.ts";

test("what is shown of /run, what lies in it and the folders above it are not replaced inside", () => {
  const own = ["/run/user/1000/x", "/run/systemd/journal", "/tmp/x", "/dev/shm/x"];
  expect(own.filter((path) => !isReplaced(path))).toEqual([]);
  const shown = [
    "/run/systemd/resolve",
    "/run/systemd/resolve/stub.conf",
    "/run/systemd",
    "/run/NetworkManager/x",
    "/etc/x",
  ];
  expect(shown.filter(isReplaced)).toEqual([]);
});
