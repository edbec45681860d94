import type { z } from 'zod';
import type { ConnectorCategory } from './record.js';
import type { TriggerAction } from './record/schemas.js';

/** The known events that can start a coworker (contract, connectors). Providers may send others. */
const events: Record<ConnectorCategory, Record<string, [name: string, description: string]>> = {
  messaging: {
    message_received: ['Message received', 'The connected account received a message'],
    message_read: ['Message read', 'A message from the account was read'],
    message_reaction: ['Reaction', 'A user reacted to a message'],
  },
  mail: {
    mail_received: ['Mail received', 'The account received an email'],
    mail_sent: ['Mail sent', 'The account sent an email'],
    mail_opened: ['Mail opened', 'An email from the account was opened'],
  },
  professional_network: {
    message_received: ['Message received', 'The connected account received a message'],
    new_relation: ['New relation', 'An invitation was accepted'],
    invitation_received: ['Invitation received', 'The account received an invitation'],
  },
  content_creator: {
    post_published: ['Post published', 'A post was published'],
    comment_received: ['Comment received', 'A user commented on a post'],
    reaction_received: ['Reaction received', 'A user reacted to a post'],
  },
  restful: { '*': ['Any event', 'Any event sent to the connector’s webhook'] },
  mcp: {},
};

export const triggerActions: z.infer<typeof TriggerAction>[] = Object.entries(events).flatMap(([category, list]) =>
  Object.entries(list).map(([event, [name, description]]) => ({
    category: category as ConnectorCategory,
    event,
    name,
    description,
  })),
);
