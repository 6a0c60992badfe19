/*
 * What looks like a secret, by its name and value. In doubt it is one: hiding a value is easy to notice and to change.
 */

/** The end of any word of the name: GITHUB_TOKEN, AWS_SECRET_ACCESS_KEY, githubToken, SSH_AUTH_SOCK, PGPASSWORD. */
const secretWord = /(?:keys?|tokens?|secrets?|pass|passwords?|passwd|passphrase|credentials?|creds|auth)$/i;

const secretWholeWord = /^(?:pat|jwt|dsn|cookies?|bearer|private)$/i;

/** MYSQL_PWD and the like; PWD and OLDPWD are directories. */
const passwordAsPwd = /._pwd$/i;

const secretValues: readonly RegExp[] = [
  // Well-known prefixes of keys and tokens.
  /(?:^|[^A-Za-z0-9])(?:sk-|[sr]k_(?:live|test)_|gh[opusr]_|github_pat_|glpat-|xox[a-z]-|npm_|pypi-|hf_|SG\.|dop_v1_|ya29\.|shpat_|AGE-SECRET-KEY-)[A-Za-z0-9_.-]{16}/,
  /(?:^|[^A-Za-z0-9])(?:A[KS]IA[A-Z0-9]{16}|AIza[A-Za-z0-9_-]{30})/,
  // A JSON Web Token: two base64url objects.
  /eyJ[A-Za-z0-9_-]{8,2000}\.eyJ/,
  /-----BEGIN [A-Z ]{0,40}PRIVATE KEY/,
  /^(?:Bearer|Basic) \S{8}/i,
  // A password in a URL.
  /:\/\/[^\s/:@]{0,200}:[^\s/@]{1,500}@/,
];

/** Returns whether a variable looks like a secret, by the words of its name or the form of its value. */
export function isSecret(name: string, value: string): boolean {
  const words = name.split(/[^A-Za-z0-9]+/);
  return (
    words.some((word) => secretWord.test(word) || secretWholeWord.test(word)) ||
    passwordAsPwd.test(name) ||
    secretValues.some((shape) => shape.test(value))
  );
}
