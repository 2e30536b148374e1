import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { expect, test as base } from 'vitest'

import { entries, isStale, webEntries } from '../../scripts/build.mjs'
import { isDeep } from '../support/tier.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** A project with small programs instead of those of Cuewire. */
class Project {
  readonly folder: string

  constructor(folder: string) {
    this.folder = folder
  }

  async write(file: string, text: string) {
    const path = join(this.folder, file)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, text)
  }

  /** Runs the server with the command of `npm run server`. */
  run(): Promise<{ stdout: string; stderr: string }> {
    return promisify(execFile)(process.execPath, [join(this.folder, 'scripts/run.mjs'), 'src/server.ts'])
  }

  files(): Promise<string[]> {
    return readdir(join(this.folder, 'dist'), { recursive: true })
  }
}

// oxlint-disable-next-line no-empty-pattern
const test = base.extend('project', async ({}, { onCleanup }) => {
  const folder = await mkdtemp(join(tmpdir(), 'cuewire project '))
  onCleanup(async () => rm(folder, { recursive: true, force: true }))
  const project = new Project(folder)
  for (const name of ['package.json', 'package-lock.json', 'scripts'])
    await cp(join(root, name), join(folder, name), { recursive: true })
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  for (const file of [...entries, ...Object.values(webEntries), 'web/client/interface.ts'])
    await project.write(file, '')
  await project.write('src/answer.ts', 'export const answer: number = 42\n')
  const server =
    "import { answer } from './answer.ts'\nconsole.log(answer)\nif (answer === 13) throw new Error('bad luck')\n"
  await project.write('src/server.ts', server)
  await project.write('src/stores/db/migrations/0001_first.sql', 'select 1')
  await project.write('src/notes.md', 'notes')
  return project
})

const line = /^cuewire: built dist in \d+\.\d s\n$/

test('the first start builds and prints one line, the second start uses the build', async ({ project }) => {
  expect(await project.run()).toEqual({ stdout: '42\n', stderr: expect.stringMatching(line) })
  expect(await project.run()).toEqual({ stdout: '42\n', stderr: '' })
  const files = await project.files()
  expect(files).toContain('src/stores/db/migrations/0001_first.sql')
  expect(files).not.toContain('src/notes.md')
})

test('a changed, added or deleted source makes the build stale; a copied one does not', async ({
  project
}) => {
  const { folder } = project
  const response = join(folder, 'src/answer.ts')
  await project.run()
  await project.write('src/answer.ts', 'export const answer: number = 43\n')
  expect(await project.run()).toEqual({ stdout: '43\n', stderr: expect.stringMatching(line) })
  await project.write('web/new/file.ts', '')
  expect(isStale(folder)).toBe(true)
  await rm(join(folder, 'web/new/file.ts'))
  expect(isStale(folder)).toBe(false)
  await utimes(response, 1, 1)
  expect(isStale(folder)).toBe(false)
  await writeFile(response, 'export const answer: number = 44\n')
  await utimes(response, 1, 1)
  expect((await project.run()).stdout).toBe('43\n')
})

test.runIf(isDeep)('an incomplete build is stale, whatever its stamp contains', async ({ project }) => {
  const { folder } = project
  const stamp = join(folder, 'dist/.build.json')
  await project.run()
  expect(isStale(folder)).toBe(false)
  await rm(join(folder, 'dist/web'), { recursive: true })
  expect(isStale(folder)).toBe(true)
  for (const text of ['{}', 'null', '[]', '{"times":1,"contents":2,"files":[3]}']) {
    await writeFile(stamp, text)
    expect([text, isStale(folder)]).toEqual([text, true])
  }
  expect(await project.run()).toEqual({ stdout: '42\n', stderr: expect.stringMatching(line) })
})

test.runIf(isDeep)('an added or deleted file causes a build', async ({ project }) => {
  const { folder } = project
  await project.run()
  await project.write('web/new/file.ts', '')
  expect((await project.run()).stderr).toMatch(line)
  await rm(join(folder, 'web/new/file.ts'))
  expect(isStale(folder)).toBe(true)
  expect((await project.run()).stderr).toMatch(line)
})

test.runIf(isDeep)('concurrent starts build without conflicts', async ({ project }) => {
  const runs = await Promise.all([project.run(), project.run(), project.run()])
  expect(runs.map(({ stdout }) => stdout)).toEqual(['42\n', '42\n', '42\n'])
  expect((await project.files()).filter(name => name.endsWith('.new'))).toEqual([])
})

test.runIf(isDeep)('a stack trace contains the source file', async ({ project }) => {
  await project.write('src/answer.ts', 'export const answer: number = 13\n')
  const stderr = expect.stringMatching(/Error: bad luck\n +at .*src\/server\.ts:3:\d+/)
  await expect(project.run()).rejects.toMatchObject({ code: 1, stderr })
})

test('licenses of bundled packages are part of the build, and no others', async ({ project }) => {
  await project.write('src/server.ts', "import 'ioredis'\nimport 'postgres'\n")
  await project.write('web/player/player-page.ts', "import { html } from 'lit'\nconsole.log(html``)\n")
  await project.write('web/player/player.css', "@import '@fontsource-variable/figtree/wght.css';\n")
  await project.run()
  const text = await readFile(join(project.folder, 'dist/THIRD-PARTY-LICENSES.txt'), 'utf8')
  const titles = [...text.matchAll(/^-{80}\n(.*)$/gm)].map(([, title = '']) => title)
  expect(titles).toEqual(titles.toSorted())
  const names = titles.map(title => title.replace(/ \d+\.\d+\.\d+ \(.+\)$/, ''))
  expect(names).toEqual(
    expect.arrayContaining(['@fontsource-variable/figtree', 'ioredis', 'lit', 'lit-html', 'swagger-ui-dist'])
  )
  expect(names).not.toContain('uplot')
  expect(text).toMatch(/^ioredis .* \(MIT\)\n\n.*\n\nCopyright \(c\) .* Zihua Li/m)
  expect(text).toMatch(/^lit .* \(BSD-3-Clause\)\n\nBSD 3-Clause License\n\nCopyright \(c\) 2017 Google LLC/m)
  expect(text).toMatch(/^postgres .* \(Unlicense\)\n\nThe package has no license file\.$/m)
  // A package that swagger-ui bundles.
  expect(text).toContain('DOMPurify')
})

test.runIf(isDeep)('a compile error names the file, and the previous build stays', async ({ project }) => {
  await project.run()
  await project.write('src/answer.ts', 'export const = 42\n')
  await expect(project.run()).rejects.toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/^cuewire: the build failed: .*\nsrc\/answer\.ts:1:13: ERROR: /)
  })
  await project.write('src/answer.ts', 'export const answer: number = 42\n')
  expect(await project.run()).toEqual({ stdout: '42\n', stderr: '' })
})

test.runIf(isDeep)(
  'files of the previous build stay for running programs, older ones are removed',
  async ({ project }) => {
    const build = async (text: string) => {
      await project.write('src/commands/simulate/main.ts', `import('../lazy.ts')`)
      await project.write('src/lazy.ts', `console.log('${text}')`)
      await project.run()
      const lazy = (await project.files()).filter(name => /^src\/lazy-\w+\.js$/.test(name))
      for (const name of lazy) await utimes(join(project.folder, 'dist', name), 1, 1)
      return lazy.toSorted()
    }
    const [first] = await build('one')
    const both = await build('two')
    expect(both).toHaveLength(2)
    expect(both).toContain(first)
    const last = await build('three')
    expect(last).toHaveLength(2)
    expect(last).not.toContain(first)
  }
)

test.runIf(isDeep)('without sources, as in an image, the build starts as it is', async ({ project }) => {
  const { folder } = project
  await project.run()
  for (const name of ['src', 'workers', 'web', 'assets'])
    await rm(join(folder, name), { recursive: true, force: true })
  await project.write('package.json', (await readFile(join(folder, 'package.json'), 'utf8')).concat('\n'))
  expect(await project.run()).toEqual({ stdout: '42\n', stderr: '' })
})
