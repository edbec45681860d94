import { describe, expect, test } from '@jest/globals';
import { mkdtempSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { loadConfig } from '../../src/config.js';
import { stdioTarget, type StdioConfig } from '../../src/domain/mcp-servers/operations/stdio-target.js';
import { verifies } from '../support/verifies.js';

const folder = mkdtempSync(path.join(tmpdir(), 'mcp-processes-'));

function configOf(entries: object): StdioConfig {
  return { ...loadConfig({ MCP_STDIO_COMMANDS: JSON.stringify(entries) }).mcpStdio, folder };
}

const command = ['/opt/server', 'argument'];
const use = { projectId: 'project-a', organizationId: 'organization-a' };

describe('a command of MCP_STDIO_COMMANDS', () => {
  test.each([
    ['names nobody', {}],
    ['names another project', { projects: ['project-b'] }],
    ['names another organization', { organizations: ['organization-b'] }],
    ['names the organization as a project', { projects: ['organization-a'] }],
  ])('is refused if its entry %s', (_name, owners) => {
    verifies('mcp-client.process-owners');
    expect(() => stdioTarget(configOf({ server: { command, ...owners } }), 'server', use)).toThrow(
      'names neither the project nor its organization',
    );
  });

  test.each([
    ['its project', { projects: ['project-a'] }],
    ['its organization', { organizations: ['organization-a'] }],
    ['all projects', { projects: '*' }],
  ])('is allowed if its entry names %s', (_name, owners) => {
    verifies('mcp-client.process-owners');
    const target = stdioTarget(configOf({ server: { command, ...owners } }), 'server', use);
    expect(target).toMatchObject({ commandLine: command });
  });

  test('has a folder for each project, which only the worker can read', () => {
    verifies('mcp-client.process-apart');
    const config = configOf({ server: { command, projects: '*' } });
    const folders = ['project-a', 'project-b', '../project-a'].map((projectId) => {
      const target = stdioTarget(config, 'server', { ...use, projectId });
      if (!('folder' in target)) throw new Error('a process has a folder');
      return target.folder;
    });
    expect(new Set(folders).size).toBe(3);
    for (const own of folders) {
      expect(path.relative(folder, own)).not.toMatch(/^\.\./);
      expect(statSync(own).mode & 0o777).toBe(0o700);
      expect(statSync(path.dirname(own)).mode & 0o777).toBe(0o700);
    }
  });

  test('must be an object with a command line', () => {
    verifies('mcp-client.process-owners');
    expect(() => configOf({ server: command })).toThrow(/MCP_STDIO_COMMANDS/);
  });
});
