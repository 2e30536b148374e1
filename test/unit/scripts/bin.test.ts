import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

import { expect, test } from 'vitest'

import { entries } from '../../../scripts/build.mjs'
import { findCommit } from '../../../scripts/find-commit.mjs'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const text = readFileSync(`${root}bin/cuewire`, 'utf8')
const { scripts }: { scripts: Record<string, string> } = JSON.parse(
  readFileSync(`${root}package.json`, 'utf8')
)

/** The program of each command of `bin/cuewire`. */
const commands = new Map(
  [...text.matchAll(/^ {2}([a-z| -]+)\)\s+program=(\S+)/gm)].flatMap(([, names = '', program = '']) =>
    names.split('|').map(name => [name.trim(), program] as const)
  )
)

test('bin/cuewire has each command of npm that runs a program of the build, with the same program', () => {
  const programs = Object.entries(scripts).flatMap(([name, command]) => {
    const [, program = ''] = /scripts\/run\.mjs (\S+)/.exec(command) ?? []
    return entries.includes(program) ? [[name, program] as const] : []
  })
  expect(programs.length).toBeGreaterThan(12)
  expect(programs.filter(([name, program]) => commands.get(name) !== program)).toEqual([])
  const others = [...commands].filter(([, program]) => !program.startsWith('scripts/'))
  expect(others.map(([name]) => name).toSorted()).toEqual(programs.map(([name]) => name).toSorted())
})

test('bin/cuewire explains itself, and refuses an unknown command', () => {
  const run = (...args: string[]) =>
    execFileSync(`${root}bin/cuewire`, args, { encoding: 'utf8', stdio: 'pipe' })
  const help = run('help')
  for (const name of commands.keys()) expect(help).toContain(name)
  expect(() => run('sever')).toThrow('there is no command "sever"')
})

test('the commit is that of COMMIT, else of the repository', () => {
  const full = 'ABCDEF0123456789abcdef0123456789abcdef01'
  expect(findCommit('/', { COMMIT: full })).toBe('abcdef0')
  // Empty, unless this is an archive of a commit.
  const otherwise = findCommit('/', {})
  expect(findCommit('/', { COMMIT: 'main' })).toBe(otherwise)
  expect(findCommit(`${root}src`, { PATH: process.env['PATH'] })).toBe(otherwise)
})
