import { readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { expect, test } from 'vitest'

import { apiRoutes } from '../../src/api/routes.ts'

/* Whether documents name what exists. config.test.ts compares the variables, ops/monitoring.test.ts the alerts. */

const root = fileURLToPath(new URL('../../', import.meta.url))
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const list = (folder: string, recursive: boolean) =>
  readdirSync(join(root, folder), { encoding: 'utf8', recursive }).map(name => join(folder, name))
const ignored = ['.git', 'node_modules', 'dist', 'release', '.data', 'coverage']
const folders = list('.', false).filter(
  name => !ignored.includes(name) && statSync(join(root, name)).isDirectory()
)
const paths = [...list('.', false), ...folders.flatMap(folder => list(folder, true))]
/** Each path, and its last parts. */
const known = new Set(paths.flatMap(path => path.split('/').map((_, at, parts) => parts.slice(at).join('/'))))

const readAll = (pattern: RegExp) =>
  paths.filter(path => pattern.test(path)).map(path => ({ path, text: read(path) }))
/** Without the changelog and what tools have written, which are about their time. */
const documents = readAll(/^(?!CHANGELOG|test\/by-hand).*\.md$/)
const sources = readAll(
  /^package\.json$|^(bin|\.ci)\/|^(?!test\/unit\/docs).*\.(ts|mjs|lua|liq|sql|py|ya?ml|env|service|patch)$/
)
const code = sources.map(({ text }) => text).join('\n')

/** Names in other repositories and in builds, and examples of names. */
const foreign =
  /^(src\/(connection|index)\.js|web\/static\/openapi\.yml|docs\/PROTOCOL\.md|db\.sql|client\.d\.ts|report\.mjs|utils\.ts|UNSAFE_TRANSACTION)$/

type Found = readonly [path: string, ...groups: string[]]

/** The groups of each match in the texts, after the path of the text. */
function findAll(pattern: RegExp, texts = documents): Found[] {
  const found = texts.flatMap(({ path, text }) =>
    [...text.replaceAll(/\s+/g, ' ').matchAll(pattern)].map(([, ...groups]): Found => [path, ...groups])
  )
  expect(found.length).toBeGreaterThan(10)
  return found.filter(([, name = '']) => !foreign.test(name))
}

test('paths of the repository exist', () => {
  const isPath = ([, name = '']: Found) =>
    /\.(ts|mts|mjs|lua|liq|sql|css|md)$/.test(name) || folders.some(folder => name.startsWith(`${folder}/`))
  const exists = (name: string) => {
    const pattern = new RegExp(`^${name.replaceAll('.', String.raw`\.`).replaceAll('*', '[^/]*')}$`)
    return (
      known.has(name.replace(/\/$/, '')) || (name.includes('*') && paths.some(path => pattern.test(path)))
    )
  }
  const named = findAll(/`([\w.@+*-]+(?:\/[\w.@+*-]+)*\/?)`/g).filter(isPath)
  const pages = findAll(/\b(docs\/[\w-]+\.md)/g, sources)
  expect([...named, ...pages].filter(([, name = '']) => !exists(name))).toEqual([])
})

test('a name beside a file, like `findStation` (`parse.ts`), is in that file', () => {
  const named = findAll(/`(\w+)` (?:in |\()`([\w./-]+\.(?:ts|mjs|lua|liq|sql))`/g)
  const isIn = (name: string, file: string) =>
    paths.some(path => `/${path}`.endsWith(`/${file}`) && read(path).includes(name))
  expect(named.filter(([, name = '', file = '']) => !isIn(name, file))).toEqual([])
})

test('links lead to files and headings', () => {
  const slug = (text: string) =>
    text
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-')
  const headings = new Set(
    documents.flatMap(({ path, text }) =>
      [...text.matchAll(/^#+ (.*)$/gm)].map(([, title = '']) => `${path}#${slug(title)}`)
    )
  )
  const isBroken = ([path, target = '', anchor]: Found) => {
    const file = target === '' ? path : join(dirname(path), target)
    return !paths.includes(file) || (anchor !== undefined && !headings.has(`${file}#${anchor}`))
  }
  expect(findAll(/\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]*))?\)/g).filter(isBroken)).toEqual([])
})

test('commands of npm exist, in documents and in texts of the program', () => {
  const { scripts }: { scripts: Record<string, string> } = JSON.parse(read('package.json'))
  const named = findAll(/\bnpm run ([a-z]+(?:[-:][a-z]+)*)/g, [...documents, ...sources])
  expect(named.filter(([, name = '']) => !Object.hasOwn(scripts, name))).toEqual([])
})

test('variables are read somewhere', () => {
  const named = [
    ...findAll(/`([A-Z\d]+(?:_[A-Z\d]+)+)(?:=[^`]*)?`/g),
    ...findAll(/\b([A-Z][A-Z\d_]+)=\S+ (?:[A-Z_]+=\S+ )*npm /g)
  ]
  expect(named.filter(([, name = '']) => !new RegExp(`\\b${name}\\b`).test(code))).toEqual([])
})

test('operations of the API exist', () => {
  const named = findAll(/`(GET|POST|PUT|DELETE|PATCH) (\/api\/[^`?]*[^`?/])[`?]/g)
  const isRoute = (method: string, path: string) => {
    const parts = path
      .replaceAll(/\[[^\]]*\]/g, '')
      .replaceAll(/\{[^}]*\}/g, 'x')
      .split('/')
    const fits = (own: readonly string[]) =>
      own.length === parts.length && own.every((part, at) => part.includes(':') || part === parts[at])
    return apiRoutes.some(route => route.method === method && fits(route.path.split('/')))
  }
  expect(named.filter(([, method = '', path = '']) => !isRoute(method, path))).toEqual([])
})

test('the architecture names each folder of the program', () => {
  const page = read('docs/architecture.md')
  const own = list('src', false).filter(path => statSync(join(root, path)).isDirectory())
  expect(own.filter(path => !page.includes(`\`${path}\``))).toEqual([])
})
