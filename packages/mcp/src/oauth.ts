export { isMcpError, McpError } from "./errors.ts";
export { type LoginOptions, login } from "./oauth/login.ts";
export { createOAuthStore, type OAuthLogin, type OAuthStore } from "./oauth/oauthStore.ts";
