import { satteri } from "@astrojs/markdown-satteri";
import starlight from "@astrojs/starlight";
import { defineConfig } from "astro/config";
import { sidebar } from "./src/site/sidebar.mjs";
import { repository } from "./src/site/sources.mjs";

export default defineConfig({
  // Pages that a browser asks for; images are used as they are.
  image: { service: { entrypoint: "astro/assets/services/noop" } },
  // A flag outside of code keeps its two hyphens.
  markdown: { processor: satteri({ features: { smartPunctuation: false } }) },
  integrations: [
    starlight({
      title: "toolcrib",
      description: "File, search and shell tools for the agent you already have.",
      sidebar,
      social: [{ icon: "github", label: "Source on GitHub", href: repository }],
      customCss: ["./src/site/site.css"],
      // The reading order is the sidebar's.
      pagination: true,
      lastUpdated: false,
      credits: false,
      expressiveCode: {
        styleOverrides: { codeFontSize: "0.85rem" },
        // Nothing is hidden behind a scroll bar, on narrow screens either. A command has no window around it.
        defaultProps: { wrap: true, overridesByLang: { sh: { frame: "none" } } },
      },
    }),
  ],
});
