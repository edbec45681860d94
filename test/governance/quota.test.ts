import { describe, expect, test } from '@jest/globals';
import { createQuota, type Admission, type QuotaOptions } from '../../src/governance/quota/quota.js';
import { newId } from '../../src/base/ids.js';
import { eventually } from '../support/eventually.js';
import { useDeps } from '../support/fixture.js';
import { startHelper } from '../support/governance/fork.js';
import { testRun } from '../support/run.js';
import { verifies } from '../support/verifies.js';

const deps = useDeps();
const { collections } = deps.mongo;
const quotaOf = (options: Partial<QuotaOptions>) =>
  createQuota({ collections, projectMax: 120, organizationMax: 600, windowSeconds: 60, ...options });
const subject = (organizationId = newId()) => ({ organizationId, projectId: newId() });
const admitted = (answers: Admission[]) => answers.filter((answer) => answer.admitted).length;
const times = async (count: number, call: () => Promise<Admission>) => Promise.all(Array.from({ length: count }, call));

describe('quota', () => {
  test('admits exactly 120 of 1,000 concurrent calls on two processes, and the next when the oldest leaves', async () => {
    verifies('quota.exact-over-processes', 'quota.project-window', 'quota.sliding');
    const who = subject();
    const options = {
      uri: testRun().env.MONGODB_URI,
      ...who,
      calls: 500,
      projectMax: 120,
      organizationMax: 600,
      windowSeconds: 60,
    };
    const processes = await Promise.all([
      startHelper<Admission[]>('quota-process', options),
      startHelper<Admission[]>('quota-process', options),
    ]);
    for (const { go } of processes) go();
    const answers = await eventually(() => {
      const all = processes.flatMap(({ messages }) => messages.flat());
      expect(all).toHaveLength(1000);
      return all;
    });
    expect(admitted(answers)).toBe(120);
    const refusals = answers.filter((answer) => !answer.admitted);
    for (const refusal of refusals)
      expect(refusal).toMatchObject({ scope: 'project', retryAfterSeconds: expect.any(Number) });

    const oldest = (await collections.quotas.findOne({ _id: who.organizationId }))?.organization.at(-1) ?? 0;
    const justBefore = await quotaOf({ now: () => oldest + 59_999 }).admit(who);
    expect(justBefore).toEqual({ admitted: false, scope: 'project', retryAfterSeconds: 1 });
    expect(await quotaOf({ now: () => oldest + 60_000 }).admit(who)).toEqual({ admitted: true });
  });

  test('reports how long to wait, and admits a call after that time', async () => {
    const who = subject();
    let now = 1_800_000_000_000;
    const quota = quotaOf({ projectMax: 2, now: () => now });
    await quota.admit(who);
    now += 10_500;
    await quota.admit(who);
    now += 1;
    expect(await quota.admit(who)).toEqual({ admitted: false, scope: 'project', retryAfterSeconds: 50 });
    now += 50_000;
    expect(await quota.admit(who)).toEqual({ admitted: true });
    expect(await quota.admit(who)).toEqual({ admitted: false, scope: 'project', retryAfterSeconds: 10 });
  });

  test('works with the real clock', async () => {
    const who = subject();
    const quota = quotaOf({ projectMax: 1, windowSeconds: 0.5 });
    expect(await quota.admit(who)).toEqual({ admitted: true });
    await eventually(async () => expect(await quota.admit(who)).toEqual({ admitted: true }));
  });

  test('limits an organization to its maximum across all of its projects', async () => {
    verifies('quota.organization-window');
    const organizationId = newId();
    const projects = Array.from({ length: 6 }, () => subject(organizationId));
    const quota = quotaOf({ projectMax: 4, organizationMax: 20 });
    const answers = await times(48, async () => quota.admit(projects[Math.floor(Math.random() * 6)] ?? subject()));
    const more = await Promise.all(
      projects.flatMap((project) => Array.from({ length: 5 }, () => quota.admit(project))),
    );
    expect(admitted([...answers, ...more])).toBe(20);
    expect(more.at(-1)).toMatchObject({ admitted: false });
    expect(await quota.admit(subject(organizationId))).toMatchObject({ admitted: false, scope: 'organization' });
  });

  test('does not count a refused call in either window', async () => {
    verifies('quota.refused-uncounted');
    const organizationId = newId();
    const [full, other] = [subject(organizationId), subject(organizationId)];
    const quota = quotaOf({ projectMax: 3, organizationMax: 5 });
    await times(10, () => quota.admit(full));
    expect(await quota.usage(full)).toEqual({
      org_window_max: 5,
      org_window_used: 3,
      project_window_max: 3,
      project_window_used: 3,
    });
    expect(admitted(await times(10, () => quota.admit(other)))).toBe(2);
    expect(await quota.usage(other)).toMatchObject({ org_window_used: 5, project_window_used: 2 });
  });

  test('names the scope that keeps the caller waiting longest', async () => {
    const organizationId = newId();
    const who = subject(organizationId);
    let now = 1_800_000_000_000;
    const quota = quotaOf({ projectMax: 1, organizationMax: 2, now: () => now });
    await quota.admit(who);
    now += 30_000;
    await quota.admit(subject(organizationId));
    expect(await quota.admit(who)).toEqual({ admitted: false, scope: 'project', retryAfterSeconds: 30 });
    now += 30_000;
    await quota.admit(who);
    expect(await quota.admit(who)).toMatchObject({ scope: 'project', retryAfterSeconds: 60 });
    expect(await quota.admit(subject(organizationId))).toMatchObject({ scope: 'organization', retryAfterSeconds: 30 });
  });

  test('admits every call if a maximum is 0, and reports it as 0', async () => {
    verifies('quota.zero-unlimited');
    const who = subject();
    const unlimited = quotaOf({ projectMax: 0, organizationMax: 0 });
    expect(admitted(await times(700, () => unlimited.admit(who)))).toBe(700);
    expect(await unlimited.usage(who)).toEqual({
      org_window_max: 0,
      org_window_used: 0,
      project_window_max: 0,
      project_window_used: 0,
    });
    const onlyOrganization = quotaOf({ projectMax: 0, organizationMax: 2 });
    expect(await times(3, () => onlyOrganization.admit(who)).then(admitted)).toBe(2);
    const onlyProject = quotaOf({ projectMax: 2, organizationMax: 0 });
    expect(await times(3, () => onlyProject.admit(who)).then(admitted)).toBe(2);
  });

  test('applies a newly configured maximum to calls admitted earlier', async () => {
    const who = subject();
    expect(await times(10, () => quotaOf({ projectMax: 6 }).admit(who)).then(admitted)).toBe(6);
    expect(await quotaOf({ projectMax: 3 }).admit(who)).toMatchObject({ admitted: false });
    expect(await times(10, () => quotaOf({ projectMax: 8 }).admit(who)).then(admitted)).toBe(2);
    expect((await quotaOf({}).usage(who)).project_window_used).toBe(8);
  });

  test('separates projects whose ids contain path characters', async () => {
    const organizationId = newId();
    const quota = quotaOf({ projectMax: 1 });
    for (const projectId of ['a.b', '$a', 'a', ''])
      expect(await quota.admit({ organizationId, projectId })).toEqual({ admitted: true });
    expect(await quota.admit({ organizationId, projectId: 'a.b' })).toMatchObject({ admitted: false });
  });

  test('forgets only projects whose admissions have all left the window', async () => {
    const organizationId = newId();
    const [idle, busy] = [subject(organizationId), subject(organizationId)];
    let now = 1_800_000_000_000;
    const quota = quotaOf({ projectMax: 2000, organizationMax: 2000, now: () => now });
    await quota.admit(idle);
    now += 60_001;
    await times(999, () => quota.admit(busy));
    await eventually(async () => {
      const document = await collections.quotas.findOne({ _id: organizationId });
      expect(Object.keys(document?.projects ?? {})).toEqual([busy.projectId]);
    });
    expect(await quota.usage(busy)).toMatchObject({ org_window_used: 999, project_window_used: 999 });
  });
});
