import { startsPrograms, testPages, testPageTypes } from "@toolcrib/testing/testPages";
import { createRegistry, pages, readmes, testedByPackages } from "./pages.ts";

testPages(
  pages.filter((page) => !testedByPackages.has(page) && startsPrograms(page)),
  createRegistry,
);
testPageTypes([...pages, ...readmes]);
