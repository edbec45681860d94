import {
  decimal,
  flag,
  freeText,
  text,
  textFacts,
  texts,
  whereKnown,
  type Facts,
  type Operation,
} from '../../governance/operations/operation.js';
import { factsAboutRuns } from './rules.js';

/** The facts that rules can read about every act of a run. `act.ts` supplies the values. */
export const actFacts: Facts = {
  ...textFacts('category', 'connector_id', 'host', 'method'),
  hosts: texts('hosts'),
  recipient_domains: whereKnown('recipient_domains', texts),
  amount: decimal('amount'),
  currency: whereKnown('currency', text),
  path: freeText('path'),
  tool: freeText('tool'),
  arguments: freeText('arguments'),
  arguments_cut: flag('arguments_cut'),
  read_only: flag('read_only'),
  destructive: flag('destructive'),
  open_world: flag('open_world'),
  ...factsAboutRuns,
};

/** A step of a run performs an act through the kernel (`act.ts`); no route does. */
const ofRuns = { effect: 'act', grant: 'svc:agent.run' } as const;

export const actHttp: Operation = { ...ofRuns, name: 'act.http', facts: actFacts };

export const actMail: Operation = {
  ...ofRuns,
  name: 'act.mail',
  facts: { ...actFacts, recipients: { ...texts('recipients'), isFreeText: true } },
};

/** `arguments` are those of the tool; `read_only`, `destructive` and `open_world` are its annotations. */
export const actMcp: Operation = { ...ofRuns, name: 'act.mcp', facts: actFacts };

export const actMessage: Operation = { ...ofRuns, name: 'act.message', facts: actFacts };
