import type { ImportCounts, ImportEvent } from './import.ts'

/** What shows an import to the person who started it; `end` takes the bar away. */
export interface Progress {
  show: (event: ImportEvent) => void
  end: () => void
}

const redrawEveryMs = 100
const lineEvery = 500

/** Plain lines, for logs and pipes: each problem, and a line every 500 files. */
export function openLines(out: NodeJS.WritableStream): Progress {
  return {
    show(event) {
      if (event.type === 'problem-found') out.write(`${problemLine(event)}\n`)
      else if (event.counts.found % lineEvery === 0) out.write(`${event.counts.found} files looked at\n`)
    },
    end() {}
  }
}

/** One line of a terminal that is drawn again at most ten times a second; problems scroll by above it. */
export function openBar(out: NodeJS.WriteStream, total: number): Progress {
  const startedAt = performance.now()
  let drawnAt = 0
  return {
    show(event) {
      const now = performance.now()
      if (event.type === 'problem-found') {
        out.write(`\r\u001B[K${problemLine(event)}\n`)
        drawnAt = 0
      } else if (now - drawnAt >= redrawEveryMs) {
        drawnAt = now
        const line = renderBar(event.counts, total, (now - startedAt) / 1_000, event.path)
        out.write(`\r\u001B[K${truncateToWidth(line, out.columns)}`)
      }
    },
    end() {
      out.write('\r\u001B[K')
    }
  }
}

/** `[#####-----]  50 %  5/10  20/s  current name` */
export function renderBar(counts: ImportCounts, total: number, seconds: number, path: string): string {
  const share = total === 0 ? 1 : Math.min(1, counts.found / total)
  const bar = '#'.repeat(Math.floor(share * 20)).padEnd(20, '-')
  const rate = Math.round(counts.found / Math.max(seconds, 0.001))
  const name = path.split('/').at(-1) ?? path
  return `[${bar}] ${String(Math.floor(share * 100)).padStart(3)} %  ${counts.found}/${total}  ${rate}/s  ${printable(name)}`
}

/** Cuts a line so that it does not wrap. Characters are taken as at most two columns wide. */
export function truncateToWidth(line: string, columns: number | undefined): string {
  let left = (columns ?? 80) - 1
  let end = 0
  for (const char of line) {
    left -= char < '\u1100' ? 1 : 2
    if (left < 0) break
    end += char.length
  }
  return line.slice(0, end)
}

function problemLine({ path, reason }: { path: string; reason: string }): string {
  return `skipped ${printable(path)}: ${printable(reason)}`
}

/** A file name may hold anything; none of it may steer the terminal. */
function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Bidi_Control}]/gu, '?')
}
