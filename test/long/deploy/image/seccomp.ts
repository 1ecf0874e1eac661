import { writeFileSync } from 'node:fs';
import { readUnitValues } from '../../../e2e/deploy/systemd/unit-file.ts';
import { runTool, type Buildah } from './buildah.ts';

/** System calls of Buildah between setting the filter and starting the program. */
const BUILDAH_NEEDS = ['capset', 'setgid', 'setgroups', 'setresgid', 'setresuid', 'setuid'];

/** Expands a system call set of systemd, such as `@default`; returns any other name unchanged. */
function listSystemCalls(name: string): readonly string[] {
  if (!name.startsWith('@')) return [name];
  return runTool('systemd-analyze', ['syscall-filter', '--no-pager', name])
    .split('\n')
    .slice(1)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .flatMap(listSystemCalls);
}

/**
 * Writes the `SystemCallFilter` of the shipped unit as a seccomp profile for containers, and returns its
 * path.
 */
export function writeSeccompProfile(buildah: Buildah): string {
  const allowed = new Set(listSystemCalls('@default'));
  for (const value of readUnitValues('SystemCallFilter')) {
    const calls = value.replace(/^~/, '').split(' ').flatMap(listSystemCalls);
    for (const call of calls) {
      if (value.startsWith('~')) allowed.delete(call);
      else allowed.add(call);
    }
  }
  const path = buildah.path('seccomp.json');
  const names = [...allowed, ...BUILDAH_NEEDS];
  const syscalls = [{ names, action: 'SCMP_ACT_ALLOW' }];
  writeFileSync(path, JSON.stringify({ defaultAction: 'SCMP_ACT_ERRNO', defaultErrnoRet: 1, syscalls }));
  return path;
}
