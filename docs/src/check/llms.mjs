/** llms.txt names every page, and llms-full.txt holds their text. */
export async function checkLlms(url, addresses) {
  const [index, full] = await Promise.all(
    ["/llms.txt", "/llms-full.txt"].map(async (path) => (await fetch(url + path)).text()),
  );
  const missing = addresses.filter((address) => address !== "/" && !index.includes(`(${address})`));
  return [
    ...missing.map((address) => `does not name ${address}`),
    ...(full.includes("# read_file") ? [] : ["llms-full.txt has no page read_file"]),
  ];
}
