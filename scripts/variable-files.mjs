import { readFileSync, statSync } from 'node:fs'
import { isAbsolute } from 'node:path'

/** The variables whose values are secrets. `NAME_FILE` names a file that contains the value of `NAME`. */
export const secretNames = [
  'DATABASE_URL',
  'REDIS_URL',
  'ADMIN_API_KEY',
  'SECRETS_KEY',
  'SMTP_URL',
  'ALERT_SECRET'
]

const maxBytes = 65_536

/**
 * Returns the values of the secrets that an environment names a file for, and what is wrong with others, without
 * values. An empty variable counts as unset.
 */
export function readVariableFiles(env) {
  const values = {}
  const problems = []
  for (const name of secretNames) {
    const path = env[`${name}_FILE`]
    if (!path) continue
    try {
      if (env[name]) throw new Error(`is set, and so is ${name}: set one of them`)
      values[name] = readValue(path)
    } catch (error) {
      problems.push(`${name}_FILE ${error.message}`)
    }
  }
  return { values, problems }
}

/** The only line of a file. A relative path is not repeated in the error: it may be the secret. */
function readValue(path) {
  if (!isAbsolute(path)) throw new Error('is not an absolute path')
  const text = readText(path)
  const [value = '', ...others] = text.split(/\r?\n/)
  if (others.some(line => line !== '')) throw new Error(`names ${path}, which has more than one line`)
  if (value === '') throw new Error(`names ${path}, which is empty`)
  return value
}

function readText(path) {
  try {
    const { size } = statFile(path)
    if (size > maxBytes) throw new Error('it is larger than 64 KiB')
    return readFileSync(path, 'utf8').replace(/^\uFEFF/, '')
  } catch (error) {
    throw new Error(`names ${path}, which cannot be read (${error.code ?? error.message})`, { cause: error })
  }
}

/** Reading a pipe would wait for its writer. */
function statFile(path) {
  const stats = statSync(path)
  if (!stats.isFile()) throw new Error('it is not a file')
  return stats
}
