import { tmpdir } from 'node:os'

import { array, assert, asyncProperty, integer, oneof, record } from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'

import { openBodyBuffer, countUnreadBodyBytes } from '../../src/http/incoming-stream.ts'
import { openNamelessFileSync } from '../../src/library/uploads/transient-content.ts'
import { sized } from '../support/tier.ts'

function openBuffer() {
  let files = 0
  const buffer = openBodyBuffer(() => {
    files += 1
    return openNamelessFileSync({ DATA_DIR: tmpdir() })
  })
  return { buffer, files: () => files }
}

/** Takes the memory of all bodies. */
function fillMemory() {
  const { buffer } = openBuffer()
  onTestFinished(() => buffer.close())
  buffer.add(Buffer.alloc(65 * 1024 * 1024))
  return buffer
}

const period = 251
const periods = Buffer.from(Uint8Array.from({ length: 3_000 * period }, (_, at) => at % period))

/** The bytes of an endless pattern from an offset on. */
const pattern = (offset: number, length: number) =>
  periods.subarray(offset % period, (offset % period) + length)

const step = oneof(
  record({ add: integer({ min: 0, max: 600_000 }) }),
  record({ read: integer({ min: 1, max: 5 }) })
)

test.for([true, false])('bytes are read as they came, with memory left: %s', async hasMemory => {
  const others = hasMemory ? null : fillMemory()
  await assert(
    asyncProperty(array(step, { maxLength: 12 }), async steps => {
      const { buffer, files } = openBuffer()
      try {
        let added = 0
        let read = 0
        const readOnce = async () => {
          const bytes = await buffer.read()
          const length = bytes?.length ?? 0
          if (bytes !== null && !pattern(read, length).equals(bytes))
            throw new Error(`wrong after byte ${read}`)
          read += length
          return length
        }
        for (const each of steps) {
          if ('add' in each) {
            buffer.add(pattern(added, each.add))
            added += each.add
          } else for (let count = 0; count < each.read; count++) await readOnce()
          expect(buffer.unreadBytes()).toBe(added - read)
        }
        while ((await readOnce()) > 0);
        expect(read).toBe(added)
        expect(files()).toBe(hasMemory || added === 0 ? 0 : 1)
      } finally {
        buffer.close()
      }
    }),
    { numRuns: sized({ quick: 10, deep: 100 }) }
  )
  others?.close()
  expect(countUnreadBodyBytes()).toBe(0)
})

test('a buffer that is closed while it is read returns nothing more', async () => {
  fillMemory()
  const { buffer } = openBuffer()
  buffer.add(Buffer.alloc(1_000_000))
  const reading = buffer.read()
  buffer.close()
  expect(await reading).toBeNull()
  expect(await buffer.read()).toBeNull()
  expect(buffer.unreadBytes()).toBe(0)
})
