import { describe, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { useDeps } from '../../support/fixture.js';
import { createGatewayWorkspace, type GatewayWorkspace } from '../../support/gateway.js';
import { refusal } from '../../support/refusal.js';
import { verifies } from '../../support/verifies.js';

const deps = useDeps();

/** Questions whose words are found in each language, because they differ from those of the text by accents and a plural only. */
const inAnyLanguage = new Set(['ecoles fermees', 'canción', 'arbol', 'Baum', 'Verträge']);

/** `inflected`: a question with other forms of the words. `not`: a question that only the analyzer of another language answers. */
const languages = {
  de: {
    analyzer: 'german',
    texts: [
      'Der Sturm hat die alten Bäume im Garten und auf der Straße umgeworfen, und das ist nicht der erste Sturm.',
      'Die Häuser werden von der Stadt gekauft, und sie sind für die Familien mit Kindern.',
      'Wir haben einen Vertrag mit dem Lieferanten, und er wird im Herbst verlängert.',
    ],
    inflected: ['Baum', 'Haus', 'Verträge'],
  },
  fr: {
    analyzer: 'french',
    texts: [
      'Les chevaux sont dans les prés avec le fermier, et ils ne sont pas pour la vente.',
      'Une école est fermée par les autorités pour des travaux, et elle sera ouverte dans un mois.',
      'Nous avons signé les contrats généraux avec les fournisseurs, mais pas pour cette année.',
    ],
    inflected: ['cheval', 'ecoles fermees', 'général'],
  },
  es: {
    analyzer: 'spanish',
    texts: [
      'Las canciones del pueblo son muy antiguas y los niños las cantan en la plaza.',
      'El contrato con los proveedores está firmado, pero no fue enviado a la oficina.',
      'Los árboles del jardín son más altos y las raíces llegan hasta el camino.',
    ],
    inflected: ['canción', 'firmada', 'arbol'],
  },
  zh: {
    analyzer: 'cjk',
    texts: [
      '北京的天气今天很好，我们去公园散步。',
      '公司与供应商签订了新的合同，明年开始。',
      '上海的工厂生产电动汽车，车很便宜。',
    ],
    inflected: ['天气怎么样', '供应商', '车'],
    not: '海上',
  },
  ja: {
    analyzer: 'cjk',
    texts: [
      '東京の天気は今日とても良いです。',
      '会社は新しい契約に署名しました。',
      '大阪の工場では電気自動車を作っています。',
    ],
    inflected: ['天気', '新しい契約', '自動車'],
    not: '気天',
  },
} as const;

const ids = (answer: any) => answer.entities.map(({ id }: any) => id);

async function ask({ gateway }: GatewayWorkspace, query: string): Promise<string[]> {
  const { status, body } = await gateway.post('/v1/query-context', { query });
  expect([status, body.error]).toEqual([200, undefined]);
  return ids(body);
}

async function save({ gateway }: GatewayWorkspace, texts: readonly string[]): Promise<void> {
  const entities = texts.map((text, at) => ({ id: `t${at}`, type: 'Note', name: `n${at}`, properties: { text } }));
  expect(await gateway.post('/v1/save-context', { entities })).toMatchObject({ status: 200 });
}

async function reported({ gateway }: GatewayWorkspace): Promise<any> {
  return (await gateway.post('/v1/docs', { topic: 'retrieval' })).body.search.language;
}

const set = async ({ api, projectID }: GatewayWorkspace, language: string) =>
  expect(await api.patch(`/settings/${projectID}`, { language })).toMatchObject({ status: 200, body: { language } });

describe('the language of a project', () => {
  test.each(Object.entries(languages))('%s is detected, and other forms of a word are found', async (code, of) => {
    verifies('retrieval.languages');
    const [own, english] = await Promise.all([createGatewayWorkspace(deps), createGatewayWorkspace(deps)]);
    await set(english, 'en');
    await Promise.all([save(own, of.texts), save(english, of.texts)]);
    expect(await reported(own)).toMatchObject({
      setting: 'auto',
      language: code,
      analyzer: of.analyzer,
      building: null,
    });
    expect(await reported(english)).toMatchObject({ setting: 'en', language: 'en', analyzer: 'english' });
    for (const [at, question] of of.inflected.entries()) {
      expect([question, (await ask(own, question))[0]]).toEqual([question, `t${at}`]);
      if (!('not' in of) && !inAnyLanguage.has(question))
        expect([question, await ask(english, question)]).toEqual([question, []]);
    }
    if (!('not' in of)) return;
    expect(await ask(own, of.not)).toEqual([]);
    expect(await ask(english, of.not)).not.toEqual([]);
  });

  test('changes with the setting, without another save, and back', async () => {
    verifies('retrieval.language-setting');
    const workspace = await createGatewayWorkspace(deps);
    const { api, projectID, gateway } = workspace;
    await save(workspace, ['The children are in the houses of the city']);
    await gateway.post('/v1/save-context', { facts: [{ subject: 't0', predicate: 'tree', object: 'alte Häuser' }] });
    expect(await ask(workspace, 'Haus')).toEqual([]);
    await set(workspace, 'de');
    const settled = (language: string) =>
      eventually(async () => expect(await reported(workspace)).toMatchObject({ language, building: null }));
    await settled('de');
    expect(await ask(workspace, 'Haus')).toEqual(['t0']);
    expect((await api.get(`/settings/${projectID}`)).body.language).toBe('de');
    await set(workspace, 'en');
    await settled('en');
    expect([await ask(workspace, 'Haus'), await ask(workspace, 'house')]).toEqual([[], ['t0']]);
  });

  test('that is not supported is refused with those that are', async () => {
    verifies('retrieval.language-setting');
    const { api, projectID } = await createGatewayWorkspace(deps);
    const answer = await api.patch(`/settings/${projectID}`, { language: 'xx' });
    expect(answer).toMatchObject(refusal(400, 'invalid_request', 'language'));
    expect(JSON.stringify(answer.body)).toMatch(/auto.*de.*en.*es.*fr.*ja.*zh/);
    expect((await api.get(`/settings/${projectID}`)).body.language).toBe('auto');
  });

  test('is not decided by names and codes, and not by the first text in another language', async () => {
    verifies('retrieval.languages');
    const workspace = await createGatewayWorkspace(deps);
    await save(workspace, ['Grace Hopper', 'ERR-1999', 'Der Kunde ist mit dem Produkt zufrieden']);
    expect(await reported(workspace)).toMatchObject({ setting: 'auto', language: null, analyzer: 'english' });
    expect(await ask(workspace, 'Hoppers')).toEqual(['t0']);
  });
});
