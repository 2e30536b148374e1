<?php

declare(strict_types=1);

/** Returns what the work returns, or true; null if it throws, or if the record that it needs was not made. */
function call(string $name, callable $work, bool $hasRecord = true): mixed
{
    $line = ['call' => $name, 'result' => 'ok', 'detail' => ''];
    $value = null;
    if (!$hasRecord) {
        $line = ['call' => $name, 'result' => 'not called', 'detail' => 'the record it needs was not made'];
    } else {
        try {
            $value = $work() ?? true;
        } catch (Throwable $error) {
            $detail = preg_replace('/\s+/', ' ', $error::class . ': ' . $error->getMessage());
            $line = ['call' => $name, 'result' => 'failed', 'detail' => mb_substr($detail, 0, 300)];
        }
    }
    echo json_encode($line, JSON_UNESCAPED_SLASHES | JSON_INVALID_UTF8_SUBSTITUTE), "\n";
    return $value;
}
