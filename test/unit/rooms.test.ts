import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'

import { expect, test } from 'vitest'

/*
 * What the files of each folder may import beside those of the folder. A folder that is not listed belongs to the
 * listed one around it; `*` is any package. The rooms of `src` rest on each other: each imports only what is above it.
 */
const rules = `
src/platform/runtime     src/platform/text src/platform/process *
src/platform/text        src/platform/runtime *
src/platform/process     src/platform/runtime *
src/platform             *
src/model/station
src/model/autodj
src/model/songs          src/platform/outbound/networks.ts src/platform/runtime src/platform/text node:crypto node:path node:url
src/model/fields         src/platform/outbound/networks.ts src/platform/runtime src/platform/text valibot
src/stores               src/platform src/model *
src/webhooks             src/platform src/model src/stores *
src/engine               src/platform src/model src/stores src/webhooks *
src/radio                src/platform src/model src/stores src/engine *
src/library/media        src/platform src/model src/stores *
src/library/storage      src/platform src/model src/stores *
src/library              src/platform src/model src/stores src/engine *
src/http                 src/platform src/model scripts/uws-binding.mjs *
src/live                 src/platform src/model src/stores/redis src/http *
src/upkeep               src/platform src/stores src/webhooks src/radio src/library *
src/api                  src/platform src/model src/stores src/webhooks src/engine src/radio src/library src/http src/upkeep *
src/commands             src/platform src/model src/stores src/webhooks src/engine src/radio src/library src/upkeep src/api src/config.ts src/mistyped-variables.ts scripts *
src/pages                src/platform src/model src/http src/api *
src                      scripts *
workers                  src/platform src/model src/stores src/webhooks src/engine src/radio src/library src/upkeep src/config.ts src/mistyped-variables.ts src/services.ts *
web/client               src/live/vocabulary.ts
web/elements             web/client lit lit/directives/keyed.js hls.js/light
web/widget               web/client web/elements lit lit/directives/keyed.js
web/player               web/client web/elements lit lit/directives/keyed.js
web/dashboard            web/client web/elements lit lit/directives/keyed.js lit/directives/live.js lit/directives/repeat.js uplot @simplewebauthn/browser
web/gallery              web/widget
web/embed
web/message
`
/** `*` does not include these elsewhere. */
const onlyIn = new Map([
  ['uWebSockets.js', ['src/http', 'src/live', 'src/server.ts']],
  ['postgres', ['src/stores']]
])

const root = fileURLToPath(new URL('../../', import.meta.url))
const folders = new Map(
  rules
    .trim()
    .split('\n')
    .map(line => line.split(/\s+/))
    .map(([folder = '', ...allowed]) => [folder, allowed] as const)
)
const isIn = (path: string, folder: string) => path === folder || path.startsWith(`${folder}/`)

/** The folder of the list that a file belongs to. */
const folderOf = (path: string) =>
  [...folders.keys()].filter(folder => isIn(path, folder)).toSorted((a, b) => b.length - a.length)[0]

const files = ['src', 'workers', 'web'].flatMap(folder =>
  readdirSync(join(root, folder), { encoding: 'utf8', recursive: true })
    .filter(name => name.endsWith('.ts'))
    .map(name => join(folder, name))
)
/** What each file imports. `isLoaded`: with the file, because it is no type and not loaded later. */
const imported = new Map(
  files.map(file => {
    const text = readFileSync(join(root, file), 'utf8')
    const matches = text.matchAll(
      /^(?:import|export)(\s+type)?\s[^;]*?from '([^']+)'|\bimport\('([^']+)'\)|^import '([^']+)'/gm
    )
    const all = [...matches].map(([, type, from, dynamic, bare]) => {
      const name = from ?? dynamic ?? bare ?? ''
      const path = name.startsWith('.') ? normalize(join(dirname(file), name)) : name
      return { name: path, isLoaded: type === undefined && dynamic === undefined }
    })
    return [file, all] as const
  })
)
const imports = new Map([...imported].map(([file, all]) => [file, all.map(({ name }) => name)]))

/** The most files that may be loaded with a file, itself included: what they do must be easy to survey. */
const loadedAtMost = new Map([
  // A GET of now playing.
  ['src/live/hot-gets.ts', 20],
  // The end of a song.
  ['src/engine/due-advances.ts', 50]
])

const isFile = (name: string) => /^(src|workers|web|scripts)\//.test(name)

function isAllowed(file: string, name: string): boolean {
  const folder = folderOf(file)
  if (folder === undefined) return false
  if (isFile(name) && (isIn(name, folder) || folderOf(name) === folder)) return true
  const allowed = folders.get(folder) ?? []
  if (isFile(name)) return allowed.some(each => isIn(name, each))
  const homes = onlyIn.get(name)
  if (homes && !homes.some(home => isIn(file, home))) return false
  return allowed.includes('*') || allowed.includes(name)
}

test('files import what their room may import', () => {
  const refused = [...imports].flatMap(([file, names]) =>
    names.filter(name => !isAllowed(file, name)).map(name => `${file} imports ${name}`)
  )
  expect(refused).toEqual([])
})

test('no file imports itself through others, types included', () => {
  const circles = findCircles()
  expect(circles).toEqual([])
})

test('each rule is needed', () => {
  const unused = [...folders].flatMap(([folder, allowed]) => {
    const names = [...imports].filter(([file]) => folderOf(file) === folder).flatMap(([, found]) => found)
    const isUsed = (each: string) =>
      names.some(name => (each === '*' ? !isFile(name) : isFile(name) ? isIn(name, each) : name === each))
    return allowed.filter(each => !isUsed(each)).map(each => `${folder} does not import ${each}`)
  })
  expect(unused).toEqual([])
})

test('few files are loaded with those that must be fast', () => {
  const tooMany = [...loadedAtMost].flatMap(([file, most]) => {
    const loaded = [...findLoaded(file)]
    return loaded.length > most ? { file, loaded } : []
  })
  expect(tooMany).toEqual([])
})

/** Returns the files that are loaded with a file, itself included. */
function findLoaded(file: string): Set<string> {
  const loaded = new Set([file])
  for (const each of loaded)
    for (const { name, isLoaded } of imported.get(each) ?? [])
      if (isLoaded && imported.has(name)) loaded.add(name)
  return loaded
}

/** Returns the files of each circle of imports. */
function findCircles(): string[][] {
  const circles: string[][] = []
  const done = new Set<string>()
  const path: string[] = []
  const visit = (file: string) => {
    const at = path.indexOf(file)
    if (at >= 0) circles.push(path.slice(at))
    if (at >= 0 || done.has(file)) return
    path.push(file)
    for (const name of imports.get(file) ?? []) if (imports.has(name)) visit(name)
    path.pop()
    done.add(file)
  }
  files.forEach(visit)
  return circles
}
