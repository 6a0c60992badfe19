export { login } from "./oauth/login.ts";
export { logout } from "./oauth/logout.ts";
export { createOAuthStore, type OAuthStore } from "./oauth/oauthStore.ts";
export { openBrowser } from "./oauth/openBrowser.ts";
