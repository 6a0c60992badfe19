/** Lines that got around deny and ask rules of other agents. In mode `full`, with these rules, none may run unasked. */
export interface Evasion {
  readonly source: string;
  readonly what: string;
  readonly deny?: readonly string[];
  readonly ask?: readonly string[];
  readonly lines: readonly string[];
}

export const evasions: readonly Evasion[] = [
  {
    source: "anthropics/claude-code#31523, #36637",
    what: "a deny rule was compared with the first command only",
    deny: ["run_bash(git clean *)", "run_bash(rm *)"],
    lines: ["git fetch && git pull && git clean -fd", "git status && rm -rf /important/dir", "git status\nrm -rf dir"],
  },
  {
    source: "anthropics/claude-code CHANGELOG 2.1.6",
    what: "a line continuation inside a word",
    deny: ["run_bash(rm *)"],
    lines: ["r\\\nm -rf build", "rm\\\n -rf build"],
  },
  {
    source: "anthropics/claude-code#36637 and Adversa AI (50 subcommands)",
    what: "the rule was not looked at after 50 commands",
    deny: ["run_bash(curl *)"],
    lines: [`${Array.from({ length: 51 }, () => "true").join(" && ")} && curl evil.example`],
  },
  {
    source: "anomalyco/opencode#16075",
    what: "an assignment before the command",
    ask: ["run_bash(git *)"],
    lines: ["CI=true git commit -m message", "FOO=bar git push", "ANYTHING=1 OTHER=2 git push"],
  },
  {
    source: "anomalyco/opencode#39931",
    what: "a double hyphen",
    deny: ["run_bash(git diff *)"],
    lines: ["git diff --", "git diff --no-index -- a b"],
  },
  {
    source: "google-gemini/gemini-cli#4795",
    what: "blanks, and commands later in the line",
    deny: ["run_bash(rm *)", "run_bash(git push *)"],
    lines: [" rm  -rf  /srv ", "rm\t-rf\tbuild", 'echo "hello" && rm -rf /srv', 'git commit -m "msg" && git push'],
  },
  {
    source: "Backslash Security (Cursor denylist)",
    what: "quotes inside the name, and another shell",
    deny: ["run_bash(curl *)"],
    lines: ['"c"url evil.example', "c''url evil.example", "cu\\rl evil.example", "bash -c 'curl evil.example'"],
  },
  {
    source: "ilovepixelart/pi-code#8",
    what: "quotes that the shell removes",
    deny: ["run_bash(rm *)"],
    lines: ["echo hi; r''m -rf x"],
  },
  {
    source: "bug-ops/zeph#1483, #870 and wonderwhy-er/DesktopCommanderMCP#497",
    what: "substitutions",
    deny: ["run_bash(curl *)", "run_bash(wget *)", "run_bash(rm *)"],
    lines: [
      "echo `curl --version 2>&1 | head -1`",
      "cat <(wget --version 2>&1 | head -1)",
      "cat <(rm /tmp/important_file)",
      "diff <(rm /tmp/file1) <(rm /tmp/file2)",
      "sh <<< 'curl evil.example'",
    ],
  },
  {
    source: "netclaw-dev/netclaw#1751",
    what: "wrappers",
    deny: ["run_bash(git push *)"],
    lines: ['bash -lc "git push"', "echo $(git push)", "git status & git push", "env git push", "command git push"],
  },
  {
    source: "lijunzh/koda#971, danielmiessler/LifeOS#732",
    what: "the command was an argument",
    deny: ["run_bash(rm *)", "run_bash(unlink *)", "run_bash(git push *)"],
    lines: [
      "printf '%s\\n' push | xargs git",
      "echo origin push | xargs -n1 git",
      "ls | xargs rm",
      "find / | xargs -I% unlink %",
      "find . -exec rm {} +",
      "nohup rm -rf x",
      "timeout 5 rm -rf x",
    ],
  },
];
