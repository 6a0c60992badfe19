import { describe, expect, test } from "vitest";
import { parseCommandPattern } from "../rules/patterns.ts";
import { holdsCommand, meansCommand } from "./meansCommand.ts";

function means(text: string, command: string): boolean {
  const pattern = parseCommandPattern(text);
  if (typeof pattern === "string") throw new Error(pattern);
  return meansCommand(pattern, command.split(" "));
}

describe("to deny and ask, other spellings of the same command match", () => {
  test.each([
    ["rm *", "rm"],
    ["rm *", "rm -rf /"],
    ["rm *", "/bin/rm x"],
    ["rm *", "./rm x"],
    ["rm *", "RM x"],
    ["rm *", "rm.exe x"],
    ["/bin/rm *", "/bin/rm x"],
    ["/bin/rm *", "rm x"],
    ["./deploy.sh *", "deploy.sh x"],
    ["deploy *", "./deploy.cmd x"],
    ["rm -rf *", "rm -rf x"],
    ["rm -rf *", "rm -fr x"],
    ["rm -rf *", "rm -r -f x"],
    ["rm -rf *", "rm x -R -f"],
    ["rm -rf *", "rm -rvf x"],
    ["git push *", "git push"],
    ["git push *", "git push origin main"],
    ["git push *", "git -C x push origin"],
    ["git push *", "git --no-pager push"],
    ["git push", "git -C x push"],
    ["git push *", "git --unknown commit push"],
    ["git push", "git push -u origin"],
    ["git push --force *", "git push origin --force"],
    // Options by their other names, cut short, and together.
    ["rm -rf *", "rm --recursive --force x"],
    ["rm -rf *", "rm x -r --for"],
    ["rm --recursive *", "rm -fr x"],
    ["git push -f *", "git -C x push origin --force"],
    ["git push --force *", "git push origin +main"],
    ["git push --delete *", "git push origin :x"],
    ["git branch -D *", "git branch --force --delete x"],
    ["git branch --delete --force *", "git branch -D x"],
    ["git commit --no-verify *", "git commit -anm x"],
    ["git commit -n *", "git commit -m x --no-veri"],
    ["tar xf *", "tar --file=a --extract"],
    ["tar -x *", "tar czxf a"],
    ["python -c *", "python3.12 -c x"],
    ["deploy --prod *", "deploy -prod x"],
    // Values attached, apart, and before the subcommand.
    ["curl -X POST *", "curl -sXPOST x"],
    ["curl --request POST *", "curl -X POST x"],
    ["curl -XPOST *", "curl x --request=post"],
    ["gh api -X DELETE *", "gh api x --method DELETE"],
    ["kubectl delete -n prod *", "kubectl --namespace=prod delete x"],
    ["deploy --to=prod *", "deploy x --to prod"],
    ["deploy --to prod *", "deploy --to=prod"],
    ["sed -i *", "sed -ni.old x"],
    ["rm -r y", "rm y -fr y"],
    ["make -j4 *", "make --jobs=4"],
    // Subcommands by their other names.
    ["npm install *", "npm i x"],
    ["npm install *", "npm add x"],
    ["npm add -g *", "npm --global inst x"],
    ["npm publish *", "npm pub"],
    ["git add -A *", "git stage --all"],
    ["docker container run *", "docker run x"],
    ["cargo build --release *", "cargo b -r"],
    ["docker container *", "docker container prune"],
    ["docker container ps", "docker -H x ps"],
    ["podman ps", "podman container ps"],
    ["npm publish *", "npm --prefix x pub"],
    ["hg push *", "hg -R x pus"],
    // A lone dash, and values that are also names of subcommands.
    ["git commit", "git commit -"],
    ["git commit", "git commit - x"],
    ["cat -", "cat -n -"],
    ["deploy --prod", "deploy --prod --prod x"],
    ["cargo build", "cargo -p b build"],
    ["npm test", "npm --global test t"],
  ])("%s: %s", (pattern, command) => {
    expect(means(pattern, command)).toBe(true);
  });

  test.each([
    ["rm *", "rmdir x"],
    ["rm *", "echo rm"],
    ["rm -rf *", "rm -r x"],
    ["rm -rf *", "rm x"],
    ["git push *", "git pull"],
    ["git push", "git push origin"],
    ["git push --force *", "git push origin"],
    ["git push --force *", "git --force x"],
    ["git push --force *", "git push --force-with-lease"],
    ["git push --force", "git push --force origin"],
    ["git commit --amend *", "git commit -am x"],
    ["git commit --no-verify *", "git push -n"],
    ["git branch -D *", "git branch --delete x"],
    ["curl --fail *", "curl -F x"],
    ["curl -X POST *", "curl -X GET x"],
    ["curl -o *", "curl -XPOST x"],
    ["deploy --to=prod *", "deploy --to=test"],
    ["deploy --production *", "deploy --prod"],
    ["npm install *", "npm info x"],
    ["python2 *", "python3 x"],
    ["base *", "base64 x"],
    ["docker container *", "docker ps"],
    ["docker container prune *", "docker system prune"],
    ["podman container", "podman"],
    ["npm run publish *", "npm --global run pub"],
    ["cat -", "cat - x"],
    ["cargo build", "cargo build b"],
    // A word of another subcommand that is named for sure.
    ["git push *", "git commit -m push"],
    ["git push *", "git stash push -m x"],
    ["npm publish *", "npm run publish"],
  ])("%s is not: %s", (pattern, command) => {
    expect(means(pattern, command)).toBe(false);
  });
});

describe("what the configuration of git names is a command that git may run", () => {
  const holds = (words: readonly string[], text = "git push *"): boolean => {
    const pattern = parseCommandPattern(text);
    return typeof pattern !== "string" && holdsCommand(pattern, ["git", ...words]);
  };
  test.each([
    [["config", "alias.x", "push"]],
    [["config", "--global", "alias.x", "push origin"]],
    [["config", "set", "alias.x", "!git push"]],
    [["-c", "alias.x=push", "x"]],
    [["-c", "Alias.x=!git push", "x"]],
    [["clone", "-calias.x=push", "u"]],
    [["config", "core.sshCommand", "git push"]],
    [["-c", "core.pager=git push", "log"]],
    [["-c", "diff.external=x; git push", "diff"]],
  ])("%j", (words) => {
    expect(holds(words)).toBe(true);
  });

  test("and nothing else is", () => {
    expect(holds(["config", "alias.x", "status"])).toBe(false);
    expect(holds(["config", "core.fsmonitor", "true"])).toBe(false);
    expect(holds(["config", "push.default", "simple"])).toBe(false);
    expect(holds(["-c", "core.fsmonitor=rm x", "status"], "rm *")).toBe(true);
  });
});
