import { describe, expect, test } from '@jest/globals';
import {
  defaultGrants,
  grantsOfRoles,
  memberRoles,
  rightsOf,
  roleTable,
  rolesOf,
  toStoredRoles,
} from '../../src/auth/grants.js';
import { whyNotGive } from '../../src/auth/giving-roles.js';
import { holdsGrant, permits, seesAllRuns } from '../../src/auth/principal.js';
import { principalOf } from '../support/governance/approvals.js';
import { verifies } from '../support/verifies.js';

const person = (...roles: string[]) => principalOf(toStoredRoles(roles).role, toStoredRoles(roles));
const decides = { grant: 'any', right: ['decide'] } as const;

describe('several roles', () => {
  test('have the rights and grants of each of them', () => {
    verifies('roles.union');
    for (const one of memberRoles)
      for (const other of memberRoles) {
        const both = rightsOf([one, other]);
        expect([...both].sort()).toEqual([...new Set([...rightsOf([one]), ...rightsOf([other])])].sort());
        const grants = new Set([...grantsOfRoles([one]), ...grantsOfRoles([other])]);
        expect([...grantsOfRoles([one, other])].sort()).toEqual([...grants].sort());
        expect(permits(person(one, other), decides)).toBe(
          permits(person(one), decides) || permits(person(other), decides),
        );
      }
    expect(seesAllRuns(person('MEMBER'))).toBe(false);
    expect(seesAllRuns(person('MEMBER', 'VIEWER'))).toBe(true);
    expect(holdsGrant(person('VIEWER', 'MEMBER'), 'svc:agent.run')).toBe(true);
  });

  test('are stored as a list only if there are several', () => {
    verifies('roles.several');
    expect(toStoredRoles(['VIEWER', 'EDITOR', 'VIEWER'])).toEqual({ role: 'EDITOR', roles: ['EDITOR', 'VIEWER'] });
    expect(toStoredRoles(['VIEWER'])).toEqual({ role: 'VIEWER' });
    expect(rolesOf({ role: 'MEMBER' })).toEqual(['MEMBER']);
    expect(rolesOf({ role: 'EDITOR', roles: ['EDITOR', 'VIEWER'] })).toEqual(['EDITOR', 'VIEWER']);
  });
});

describe('a role', () => {
  test('that this service does not know searches and reads the guides only', () => {
    verifies('roles.table');
    for (const role of ['owner', 'KING', 'constructor', '__proto__', '']) {
      expect([...rightsOf([role])]).toEqual(['query']);
      expect(defaultGrants(role)).toEqual(['svc:query.read', 'svc:docs.read']);
    }
  });

  test('is given only by people who have all of its rights, and for every project only by people of the organization', () => {
    verifies('roles.no-escalation');
    for (const giver of memberRoles)
      for (const given of memberRoles) {
        const own = rightsOf([giver]);
        const isHeld = [...rightsOf([given])].every((each) => own.has(each));
        const reaches = roleTable[given].appliesTo === 'project' || roleTable[giver].appliesTo === 'organization';
        expect([giver, given, whyNotGive(person(giver), given) === undefined]).toEqual([
          giver,
          given,
          isHeld && reaches,
        ]);
      }
  });

  test('is given by an API key only if the key has each grant of the role', () => {
    verifies('roles.no-escalation');
    const key = (...grants: string[]) => principalOf('OWNER', { kind: 'api_key', grants: grants as [] });
    const all = [...grantsOfRoles(['PROJECT_ADMIN'])];
    expect(whyNotGive(key(...all), 'PROJECT_ADMIN')).toBeUndefined();
    for (const missing of all)
      expect(whyNotGive(key(...all.filter((grant) => grant !== missing)), 'PROJECT_ADMIN')).toContain(missing);
    for (const role of ['OWNER', 'ORG_ADMIN']) expect(whyNotGive(key(...all), role)).toContain('only a user');
    const reader = key('svc:query.read', 'svc:docs.read', 'svc:orchestrate.read', 'svc:governance.read');
    expect(whyNotGive(reader, 'VIEWER')).toBeUndefined();
    expect(whyNotGive(reader, 'APPROVER')).toContain('svc:governance.write');
    expect(whyNotGive(reader, 'MEMBER')).toContain('svc:agent.run');
  });

  test('limits an OAuth client in addition to its scopes, and not an API key', () => {
    verifies('roles.table');
    const grants = ['svc:orchestrate.write', 'svc:orchestrate.read'] as const;
    const edit = { grant: 'svc:orchestrate.write', right: ['manage'] } as const;
    const client = (role: string) => principalOf(role, { clientId: 'app', grants, tokenGrants: grants });
    expect(permits(client('EDITOR'), edit)).toBe(false);
    expect(permits(client('PROJECT_ADMIN'), edit)).toBe(true);
    expect(permits(client('OWNER'), { grant: 'svc:governance.read' })).toBe(false);
    expect(permits(client('OWNER'), { grant: 'svc:agent.run' })).toBe(false);
    expect(permits(principalOf('VIEWER', { kind: 'api_key', grants }), edit)).toBe(true);
    expect(seesAllRuns(client('MEMBER'))).toBe(false);
  });
});
