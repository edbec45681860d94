/** The groups of the API reference with their texts, in page order. */
export type TagTexts = Readonly<Record<string, string>>;

export const gatewayTags: TagTexts = {
  connection: 'Addresses to connect to and packages to install.',
  authentication: 'Sign-in, SDK sessions and the keys that verify tokens.',
  'API keys': 'Keys of a project. People with an admin role create and revoke them.',
  'connected apps': 'Apps that act for people through OAuth: list and end them.',
  tools:
    'Governed operations on the context graph and on agents: each passes authentication, scope, quota, validation, policy, approval and dry run.',
  governance: 'Lifecycles, approvals, policies and the audit chain.',
};

export const operationTags: TagTexts = {
  callbacks: 'Receivers for providers. They accept any content type and verify the bytes as received.',
  operation: 'Health, readiness and metrics.',
};
