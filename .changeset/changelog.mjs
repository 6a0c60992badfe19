// How an entry of a changelog looks: what changed, without ids of commits, then once the own packages that came with it.
function getReleaseLine({ summary }) {
  const [line, ...more] = summary.trim().split("\n");
  // A changeset of several paragraphs, such as that of a first release, is a text of its own.
  return more.length > 0 ? `${summary.trim()}\n` : `- ${line}`;
}

function getDependencyReleaseLine(_changesets, updated) {
  const later = updated.filter(({ oldVersion }) => oldVersion !== "0.0.0");
  const told = later.map(({ name, newVersion }) => `\`${name}\` ${newVersion}`).join(", ");
  return told && `- Needs ${told}`;
}

export default { getReleaseLine, getDependencyReleaseLine };
