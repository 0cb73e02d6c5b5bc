"""What every room uses: files, progress bars, checks of arguments, wording."""
