# Installs matchday @VERSION@ on Windows: checks the archive's sum, and puts the program's folder on the user's path.
#   powershell -ExecutionPolicy Bypass -File install.ps1 [-From URL-OR-FOLDER] [-To FOLDER]
# FROM holds the files of the release. Not run by the project: no Windows was at hand.
param(
    [string]$From = "@RELEASES@",
    [string]$To = "$env:LOCALAPPDATA\Programs\matchday"
)
$ErrorActionPreference = "Stop"
if (-not $From) { throw "name where the release is: -From URL-OR-FOLDER" }
$name = "matchday-@VERSION@-x86_64-pc-windows-gnu"
$sum = "@SHA256 matchday-@VERSION@-x86_64-pc-windows-gnu.zip@"
$work = New-Item -ItemType Directory -Path (Join-Path $env:TEMP ([guid]::NewGuid()))
try {
    $archive = Join-Path $work "archive.zip"
    if ($From -match "^https://") {
        Invoke-WebRequest -UseBasicParsing -Uri "$From/$name.zip" -OutFile $archive
    } else {
        Copy-Item (Join-Path $From "$name.zip") $archive
    }
    $found = (Get-FileHash -Algorithm SHA256 $archive).Hash.ToLower()
    if ($found -ne $sum) { throw "$name.zip has the sum $found, and should have ${sum}: nothing is installed" }
    Expand-Archive -Path $archive -DestinationPath $work
    New-Item -ItemType Directory -Force -Path $To | Out-Null
    Copy-Item -Force -Recurse (Join-Path $work "$name\*") $To
} finally {
    Remove-Item -Recurse -Force $work
}
& (Join-Path $To "matchday.exe") --version
$path = [Environment]::GetEnvironmentVariable("Path", "User")
if (($path -split ";") -notcontains $To) {
    [Environment]::SetEnvironmentVariable("Path", (@($path, $To) | Where-Object { $_ }) -join ";", "User")
    Write-Output "$To is on the path of new windows"
}
