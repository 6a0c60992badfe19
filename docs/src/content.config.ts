import { defineCollection } from "astro:content";
import { docsSchema } from "@astrojs/starlight/schema";
import { pagesLoader } from "./site/pagesLoader.mjs";

export const collections = { docs: defineCollection({ loader: pagesLoader(), schema: docsSchema() }) };
