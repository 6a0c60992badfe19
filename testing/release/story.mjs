// The releases that the cases are about, in their order. Each is made once, when the first case needs it.
import { createCheckout } from "./checkout.mjs";
import { startRegistry } from "./registry.mjs";

const once = (make) => {
  let made;
  return () => {
    made ??= make();
    return made;
  };
};

export const registry = once(startRegistry);

/** The repository with the versions of its first release made, and nothing published. */
export const firstVersions = once(async () => {
  const checkout = await createCheckout();
  await checkout.makeVersions();
  return checkout;
});

/** The first release, published and promoted. */
export const firstRelease = once(async () => {
  const [checkout, { npmrc }] = await Promise.all([firstVersions(), registry()]);
  checkout.useRegistry(npmrc());
  await release(checkout);
  return checkout;
});

/** All packages at 1.0.0. */
export const stableRelease = once(async () => {
  const checkout = await firstRelease();
  const names = Object.keys(checkout.packages());
  await checkout.makeVersions(Object.fromEntries(names.map((name) => [name, "major"])));
  await release(checkout);
  return checkout;
});

export async function release(checkout) {
  await checkout.publish();
  await checkout.promote();
}
