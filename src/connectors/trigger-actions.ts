import type { ConnectorCategory } from './connector.js';

export interface TriggerAction {
  category: ConnectorCategory;
  /** The name that a connector's trigger takes in `event`. */
  event: string;
  name: string;
  description: string;
}

/** The events by which a connector can start a coworker (contract, connectors); a provider's other events go by their own names. */
const events: Record<ConnectorCategory, Record<string, [name: string, description: string]>> = {
  messaging: {
    message_received: ['Message received', 'Somebody wrote to the connected account'],
    message_read: ['Message read', 'A message of the account was read'],
    message_reaction: ['Reaction', 'Somebody reacted to a message'],
  },
  mail: {
    mail_received: ['Mail received', 'A mail came in'],
    mail_sent: ['Mail sent', 'A mail was sent from the account'],
    mail_opened: ['Mail opened', 'A mail of the account was opened'],
  },
  professional_network: {
    message_received: ['Message received', 'Somebody wrote to the connected account'],
    new_relation: ['New relation', 'An invitation was accepted'],
    invitation_received: ['Invitation received', 'Somebody asks to be connected'],
  },
  content_creator: {
    post_published: ['Post published', 'A post went online'],
    comment_received: ['Comment received', 'Somebody commented on a post'],
    reaction_received: ['Reaction received', 'Somebody reacted to a post'],
  },
  restful: {
    '*': ['Any event', 'Whatever is posted to the connector’s webhook'],
  },
};

export const triggerActions: TriggerAction[] = Object.entries(events).flatMap(([category, list]) =>
  Object.entries(list).map(([event, [name, description]]) => ({ category: category as ConnectorCategory, event, name, description })),
);
