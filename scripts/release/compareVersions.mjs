/** Negative when `a` comes before `b`, by the rules of semantic versioning: a prerelease comes before its release. */
export function compareVersions(a, b) {
  const [one, other] = [a, b].map((version) => {
    const [, release, prerelease] = /^([^-+]+)(?:-([^+]+))?/.exec(version);
    return { release: release.split("."), prerelease: prerelease?.split(".") };
  });
  const byRelease = compareIdentifiers(one.release, other.release);
  if (byRelease !== 0) return byRelease;
  if (one.prerelease && other.prerelease) return compareIdentifiers(one.prerelease, other.prerelease);
  return Number(!one.prerelease) - Number(!other.prerelease);
}

/** Numbers come before words, and a list before one that goes on after it. */
function compareIdentifiers(list, others) {
  const at = list.findIndex((each, index) => each !== others[index]);
  if (at === -1 || at >= others.length) return list.length - others.length;
  const [one, other] = [list[at], others[at]];
  const [isNumber, isOtherNumber] = [one, other].map((each) => /^\d+$/.test(each));
  if (isNumber && isOtherNumber) return Number(one) - Number(other);
  if (isNumber !== isOtherNumber) return isNumber ? -1 : 1;
  return one < other ? -1 : 1;
}
