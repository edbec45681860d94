import type { Locator, Page } from 'playwright-core';

/** Finds a template by its name and chooses it. Other tests may have published one with the same name. */
export async function chooseTemplate(place: Page | Locator, name: string): Promise<void> {
  await place.getByRole('searchbox', { name: 'Find a template' }).fill(name);
  await place.getByRole('radio', { name }).first().check();
}
